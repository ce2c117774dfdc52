// What a server has counted since it started, as plain values. docs/statistics.md says what each
// number means.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace opserve::client {

// Of two counts, or the largest there is: what a server counts may be anything.
inline int64_t SumOfCounts(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

struct MethodStatistics {
  std::string method;                    // "Execute"
  std::map<std::string, int64_t> ended;  // calls by the name of their gRPC status: "OK", …
  int64_t in_flight = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
};

struct SessionStatistics {
  int64_t open = 0;
  int64_t opened = 0;
  int64_t refused = 0;
  int64_t commands = 0;
  int64_t answers = 0;
  int64_t failed_commands = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
};

struct EngineStatistics {
  int64_t inline_calls = 0;
  int64_t queued_calls = 0;
  int64_t failed_calls = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  int64_t refused_calls = 0;
  int64_t refused_bytes = 0;
  int64_t refused_wait = 0;
  int64_t refused_deadline = 0;
  int64_t expired_calls = 0;
  int64_t cancelled_calls = 0;
  absl::Duration queue_wait;  // sums
  absl::Duration execution;
  int64_t calls_in_flight = 0;
  int64_t bytes_in_flight = 0;
  absl::Duration expected_wait;
};

// Calls of one operator, whichever way they came.
struct OperatorStatistics {
  std::string op;  // "L1LossBackward"
  int64_t calls = 0;
  int64_t failed_calls = 0;
  absl::Duration queue_wait;  // sums
  absl::Duration execution;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
};

struct DeviceStatistics {
  std::string device;  // "cpu:0"
  int64_t memory_limit_bytes = 0;
  int64_t memory_used_bytes = 0;
  int64_t memory_cached_bytes = 0;
  int64_t memory_hits = 0;
  int64_t memory_misses = 0;
  int64_t memory_largest_lease_bytes = 0;
};

// `limit_bytes` is 0 where the server shares no memory.
struct SharedMemoryStatistics {
  int64_t regions = 0;
  int64_t bytes = 0;
  int64_t limit_bytes = 0;
  int64_t allocated = 0;
  int64_t refused = 0;
};

struct Statistics {
  absl::Duration uptime;
  std::vector<MethodStatistics> methods;
  std::map<std::string, int64_t> errors;  // by reason: "INVALID_PARAMETER", …
  int64_t batch_calls = 0;
  int64_t batch_failed_calls = 0;
  SessionStatistics sessions;
  EngineStatistics engine;
  std::vector<OperatorStatistics> operators;  // those that were called
  std::vector<DeviceStatistics> devices;
  SharedMemoryStatistics shared_memory;
};

}  // namespace opserve::client
