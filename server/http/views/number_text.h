// Numbers for people, with units.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "core/base/duration_buckets.h"

namespace opserve::server {

// Three digits: "0", "0.42", "98.1", "12.3k", "4.20M".
std::string CountText(double count);
// "512 B", "1.50 KiB", "256 MiB"
std::string BytesText(double bytes);
// "850 ns", "12.3 µs", "4.20 ms", "1.50 s"
std::string TimeText(absl::Duration time);
// Two units at most, for long times: "42 s", "3 min 20 s", "5 h 12 min", "12 d 4 h".
std::string LongTimeText(absl::Duration time);

// The time below which the part `quantile` (0 to 1) of those in the buckets is, as if they lay
// evenly in each; infinite beyond the last bound, zero where there are none.
absl::Duration QuantileOf(const DurationCounts& counts, double quantile);

}  // namespace opserve::server
