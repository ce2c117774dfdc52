// The buckets in which times are counted, so that a few numbers tell how they are distributed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace opserve {

// The longest time of each bucket but the last, which has no bound: 1, 2 and 5 of each power of ten
// from a microsecond to 50 seconds.
inline constexpr std::array<int64_t, 24> kDurationBoundsNs = [] {
  std::array<int64_t, 24> bounds = {};
  int64_t power = 1000;
  for (size_t i = 0; i < bounds.size(); i += 3, power *= 10) {
    bounds[i] = power;
    bounds[i + 1] = 2 * power;
    bounds[i + 2] = 5 * power;
  }
  return bounds;
}();
inline constexpr size_t kNumDurationBuckets = kDurationBoundsNs.size() + 1;

// How many times were in each.
using DurationCounts = std::array<int64_t, kNumDurationBuckets>;

// The bucket that a time belongs to.
inline size_t DurationBucket(absl::Duration time) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(time);
  const auto bound =
      std::lower_bound(kDurationBoundsNs.begin(), kDurationBoundsNs.end(), nanoseconds);
  return static_cast<size_t>(bound - kDurationBoundsNs.begin());
}

}  // namespace opserve
