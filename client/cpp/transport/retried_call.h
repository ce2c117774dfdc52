// A unary call that is tried again where that can help.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "client/cpp/transport/connection.h"

namespace opserve::client {

// Starts one try, which may take `timeout`. Called several times, on threads of the transport.
using StartTry = absl::AnyInvocable<std::shared_ptr<RunningCall>(absl::Duration timeout,
                                                                 Connection::Ended ended)>;

// Tries up to `tries` times, within `timeout` in all: again where a try ended with UNAVAILABLE, or
// with an error that says when there will be room (ErrorDetail::retry_after). Between two tries it
// waits as long as the server said or, where it said nothing, 100 ms and twice as long each time,
// a fifth more or less. `ended` is told how the last try ended; a wait that would last beyond
// `timeout` is not begun.
std::shared_ptr<RunningCall> StartRetriedCall(int tries, absl::Duration timeout, StartTry start,
                                              Connection::Ended ended);

}  // namespace opserve::client
