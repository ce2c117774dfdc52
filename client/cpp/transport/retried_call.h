// A unary call that is tried again where that can help.
#pragma once

#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/transport/connection.h"

namespace opserve::client {

// How long to wait behind try `number`, from 1 on, that ended so: as long as the server said
// (ErrorDetail::retry_after) or, of UNAVAILABLE where it said nothing, 100 ms and twice as long
// each time, a fifth more or less. None where another try is of no use.
std::optional<absl::Duration> WaitBehind(int number, const absl::Status& status);

// The same of a call of at most `tries` tries until `deadline`; none for one that is over.
std::optional<absl::Duration> WaitForNextTry(int number, int tries, absl::Time deadline,
                                             const absl::Status& status);

// How a try ended, and how many there may be of a call after such an end.
using TryEnded = absl::AnyInvocable<void(absl::Status status, const Fragments& answer, int tries)>;

// Starts one try, which may take `timeout`. Called several times, on threads of the transport.
using StartTry =
    absl::AnyInvocable<std::shared_ptr<RunningCall>(absl::Duration timeout, TryEnded ended)>;

// Tries as often as the ends of its tries say, within `timeout` in all, with WaitBehind between
// them. `ended` is told how the last try ended; a wait that would last beyond `timeout` is not
// begun.
std::shared_ptr<RunningCall> StartRetriedCall(absl::Duration timeout, StartTry start,
                                              Connection::Ended ended);

}  // namespace opserve::client
