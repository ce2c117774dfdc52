// Calls that carry their bytes, on a session.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/cpp/client.h"
#include "client/cpp/session_channel.h"

namespace opserve::client {

// Both phases in the turn of `stream`; 0 = of none. `done` is called when the answer is there and
// memory without an owner is no longer read.
void SendExecute(SessionChannel& channel, const Call& call, uint64_t stream,
                 Done<ExecuteResult> done);
absl::StatusOr<ExecuteResult> ExecuteAndWait(SessionChannel& channel, const Call& call,
                                             uint64_t stream, const CallOptions& options);

}  // namespace opserve::client
