#include "core/engine/cost.h"

#include <algorithm>
#include <limits>

namespace opserve {
namespace {

// Measured on a core of 2023: a call by itself, memory that is not in the cache, operations in
// vectors.
constexpr absl::Duration kCallTime = absl::Nanoseconds(300);
constexpr int64_t kBytesPerNanosecond = 10;
constexpr int64_t kOperationsPerNanosecond = 1;

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace

Cost EstimateCost(const OpCall& call, size_t workspace_bytes) {
  Cost cost;
  cost.bytes = SaturatingAdd(SaturatingAdd(call.input_bytes(), call.output_bytes()),
                             static_cast<int64_t>(workspace_bytes));
  if (call.op->operations != nullptr) cost.operations = call.op->operations(call);
  cost.time = kCallTime + absl::Nanoseconds(std::max(cost.bytes / kBytesPerNanosecond,
                                                     cost.operations / kOperationsPerNanosecond));
  return cost;
}

}  // namespace opserve
