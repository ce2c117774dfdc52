// A run's figures as JSON: times in microseconds, rates a second.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/e2e/process_stats.h"
#include "tests/bench/e2e/recorder.h"

namespace opserve::bench {

struct RunFacts {
  int64_t calls_per_message = 1;
  int64_t input_bytes = 0;  // of a message (or unit), tensors only
  int64_t output_bytes = 0;
  double server_cpu_seconds = 0;  // while it was measured
  double client_cpu_seconds = 0;
  int64_t server_peak_rss_bytes = 0;  // since the server began
};

std::string MakeReport(const Recorder& recorder, const RunFacts& facts);

}  // namespace opserve::bench
