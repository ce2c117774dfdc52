// What the engine's loops are run on: an opserve server, an echo server, or the kernel alone.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/stream_script.h"
#include "tests/bench/e2e/unary_task.h"
#include "tests/bench/e2e/workload.h"

namespace opserve::bench {

// Sends one message and checks its answer, whole. UNIMPLEMENTED when the server has no such method.
absl::Status TryOnce(Connection& connection, const UnaryTask& task, absl::Duration timeout);

// Each message of a loop is one of the task's, which outlives the lane. An answer that is not as
// large as the first one is DATA_LOSS.
std::unique_ptr<Lane> MakeTaskLane(std::unique_ptr<Connection> connection, const UnaryTask& task);

// Each message of a loop is a unit of the script, on a stream that lives for `lifetime` at most.
// The first answers are checked whole; a wrong one is DATA_LOSS, a command that fails INTERNAL.
std::unique_ptr<Lane> MakeScriptLane(std::unique_ptr<Connection> connection,
                                     std::unique_ptr<StreamScript> script, Peer peer,
                                     absl::Duration lifetime);

// Each message of a loop is a call of the C++ client library, by ExecuteAsync, or by Execute on
// one of `threads` > 0 threads. The workload outlives the lane. The first answer is checked whole,
// others by their size: DATA_LOSS.
absl::StatusOr<std::unique_ptr<Lane>> MakeClientLane(const std::string& target,
                                                     const Workload& workload, int threads);

// Each message of a loop is an execution of the workload's kernel in this process, one after the
// other, on inputs that lie where the device wants them. The workload outlives the lane.
absl::StatusOr<std::unique_ptr<Lane>> MakeKernelLane(const Workload& workload);

}  // namespace opserve::bench
