// A run's figures as JSON: times in microseconds, rates a second.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/e2e/engine.h"

namespace opserve::bench {

struct RunFacts {
  double server_cpu_seconds = 0;  // while it was measured
  double client_cpu_seconds = 0;
  int64_t server_peak_rss_bytes = 0;  // since the server began
};

// An error when an answer was wrong, or a command of a stream failed: the run is worth nothing
// then.
absl::StatusOr<std::string> MakeReport(Measurement& measurement, const RunFacts& facts);

}  // namespace opserve::bench
