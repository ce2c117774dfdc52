// The kernel alone, in this process: what no way of calling it can be faster than.
#pragma once

#include "absl/status/status.h"
#include "tests/bench/e2e/recorder.h"
#include "tests/bench/e2e/workload.h"

namespace opserve::bench {

// Runs the workload's operator again and again, on all cores and memory that is warm, until the
// recorder's end. A wrong output is a fault.
void RunKernelLoop(const Workload& workload, Recorder& recorder);

}  // namespace opserve::bench
