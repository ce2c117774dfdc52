#include "core/engine/plan/cost.h"

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

// What comes from memory of the inputs: elements that a view repeats come once, and then from the
// cache.
int64_t FetchedBytes(const OpCall& call) {
  int64_t bytes = 0;
  for (const std::optional<TensorDesc>& input : call.inputs) {
    if (input.has_value())
      bytes = SaturatingSum({bytes, std::min(input->size_bytes(), input->reach_bytes())});
  }
  return bytes;
}

}  // namespace

int64_t SaturatingSum(std::initializer_list<int64_t> numbers) {
  int64_t sum = 0;
  for (const int64_t number : numbers) {
    if (__builtin_add_overflow(sum, number, &sum)) return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

Cost EstimateCost(const OpCall& call, size_t scratch_bytes) {
  if (call.makes_nothing()) return {.time = kCallTime};
  Cost cost;
  const int64_t more = SaturatingSum({call.output_bytes(), static_cast<int64_t>(scratch_bytes)});
  cost.bytes = SaturatingSum({call.input_bytes(), more});
  if (call.op->operations != nullptr) cost.operations = call.op->operations(call);
  const int64_t fetched = SaturatingSum({FetchedBytes(call), more});
  cost.time = kCallTime + absl::Nanoseconds(std::max({fetched / kBytesPerNanosecond,
                                                      cost.bytes / kCachedBytesPerNanosecond,
                                                      cost.operations / kOperationsPerNanosecond}));
  return cost;
}

absl::Duration CopyTime(int64_t bytes) { return absl::Nanoseconds(bytes / kBytesPerNanosecond); }

int64_t StagedBytes(const Fragments& bytes) {
  return bytes.LiesAligned(kGreatestAlignment) ? 0 : static_cast<int64_t>(bytes.size_bytes());
}

}  // namespace opserve
