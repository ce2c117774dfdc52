#include "core/engine/cost.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace opserve {
namespace {

// Measured on a core of 2023: a call by itself, memory that is not in the cache, operations in
// vectors.
constexpr absl::Duration kCallTime = absl::Nanoseconds(300);
constexpr int64_t kBytesPerNanosecond = 10;
constexpr int64_t kCachedBytesPerNanosecond = 40;
constexpr int64_t kOperationsPerNanosecond = 1;

// Of any tensor's elements.
constexpr size_t kGreatestAlignment = alignof(double);

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// What comes from memory of the inputs: elements that a view repeats come once, and then from the
// cache.
int64_t FetchedBytes(const OpCall& call) {
  int64_t bytes = 0;
  for (const std::optional<TensorDesc>& input : call.inputs) {
    if (input.has_value())
      bytes = SaturatingAdd(bytes, std::min(input->size_bytes(), input->reach_bytes()));
  }
  return bytes;
}

}  // namespace

Cost EstimateCost(const OpCall& call, size_t scratch_bytes) {
  if (call.makes_nothing()) return {.time = kCallTime};
  Cost cost;
  const int64_t more = SaturatingAdd(call.output_bytes(), static_cast<int64_t>(scratch_bytes));
  cost.bytes = SaturatingAdd(call.input_bytes(), more);
  if (call.op->operations != nullptr) cost.operations = call.op->operations(call);
  const int64_t fetched = SaturatingAdd(FetchedBytes(call), more);
  cost.time = kCallTime + absl::Nanoseconds(std::max({fetched / kBytesPerNanosecond,
                                                      cost.bytes / kCachedBytesPerNanosecond,
                                                      cost.operations / kOperationsPerNanosecond}));
  return cost;
}

absl::Duration CopyTime(int64_t bytes) { return absl::Nanoseconds(bytes / kBytesPerNanosecond); }

int64_t StagedBytes(const Fragments& bytes) {
  return bytes.IsInPlace(kGreatestAlignment) ? 0 : static_cast<int64_t>(bytes.size_bytes());
}

}  // namespace opserve
