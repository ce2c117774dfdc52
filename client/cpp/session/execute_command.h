// Calls that carry their bytes, on a session.
#pragma once

#include <cstdint>

#include <opserve/client.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/session/session_channel.h"

namespace opserve::client {

// When a call is to run.
struct CallTurn {
  uint64_t stream = 0;  // 0 = in no stream's turn
  absl::Duration timeout = absl::InfiniteDuration();
};

// Both phases. `done` is called when the answer is there and memory without an owner is no longer
// read. Returns the command's id, 0 when the session is over.
uint64_t SendExecute(SessionChannel& channel, const Call& call, const CallTurn& turn,
                     Done<ExecuteResult> done);
// A call that is given up is cancelled.
absl::StatusOr<ExecuteResult> ExecuteAndWait(SessionChannel& channel, const Call& call,
                                             CallTurn turn, const CallOptions& options);

}  // namespace opserve::client
