// Execute on shared memory: the message says where the tensors are.
#pragma once

#include <opserve/shared_memory.h>

#include "absl/status/statusor.h"
#include "tests/bench/e2e/unary_task.h"

namespace opserve::bench {

// Puts the workload's inputs into a region of the server at `target`, which must be on this host;
// the output is to be written behind them. The region must outlive the task, and so must the
// workload. Messages that are outstanding at one time write the same output.
absl::StatusOr<client::SharedMemory> FillSharedTask(const Workload& workload,
                                                    const std::string& target, UnaryTask& task);

}  // namespace opserve::bench
