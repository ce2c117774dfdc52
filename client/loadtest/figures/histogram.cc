#include "client/loadtest/figures/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace opserve::loadtest {

// Below 2 * kPerOctave a value is its own bucket; above, the highest kPrecisionBits + 1 bits count.
size_t Histogram::BucketOf(uint64_t nanoseconds) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(nanoseconds)) - kPrecisionBits - 1);
  return static_cast<size_t>(shift) * kPerOctave + static_cast<size_t>(nanoseconds >> shift);
}

uint64_t Histogram::TopOf(size_t bucket) {
  if (bucket < 2 * kPerOctave) return bucket;
  const size_t shift = bucket / kPerOctave - 1;
  const uint64_t leading = bucket - shift * kPerOctave;
  return ((leading + 1) << shift) - 1;
}

void Histogram::RaiseMax(int64_t nanoseconds) {
  int64_t max = max_.load(std::memory_order_relaxed);
  while (nanoseconds > max &&
         !max_.compare_exchange_weak(max, nanoseconds, std::memory_order_relaxed)) {
  }
}

void Histogram::Record(absl::Duration latency) {
  const int64_t nanoseconds = std::max<int64_t>(0, absl::ToInt64Nanoseconds(latency));
  counts_[BucketOf(static_cast<uint64_t>(nanoseconds))].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(nanoseconds, std::memory_order_relaxed);
  RaiseMax(nanoseconds);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i)
    counts_[i].fetch_add(other.counts_[i].load(std::memory_order_relaxed));
  sum_.fetch_add(other.sum_.load(std::memory_order_relaxed));
  RaiseMax(other.max_.load(std::memory_order_relaxed));
}

void Histogram::Reset() {
  for (std::atomic<int64_t>& bucket : counts_) bucket.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
}

int64_t Histogram::count() const {
  int64_t count = 0;
  for (const std::atomic<int64_t>& bucket : counts_)
    count += bucket.load(std::memory_order_relaxed);
  return count;
}

absl::Duration Histogram::max() const { return absl::Nanoseconds(max_.load()); }

absl::Duration Histogram::mean() const {
  const int64_t calls = count();
  return calls == 0 ? absl::ZeroDuration() : absl::Nanoseconds(sum_.load()) / calls;
}

absl::Duration Histogram::Quantile(double fraction) const {
  const auto wanted = std::max<int64_t>(
      1, static_cast<int64_t>(std::ceil(fraction * static_cast<double>(count()))));
  int64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i].load(std::memory_order_relaxed);
    if (seen >= wanted) return std::min(max(), absl::Nanoseconds(static_cast<int64_t>(TopOf(i))));
  }
  return max();
}

void Histogram::ForEachBucket(
    size_t parts, absl::FunctionRef<void(absl::Duration top, int64_t count)> visit) const {
  const size_t together = kPerOctave / parts;
  for (size_t first = 0; first < kBuckets; first += together) {
    int64_t count = 0;
    for (size_t i = first; i < first + together; ++i)
      count += counts_[i].load(std::memory_order_relaxed);
    if (count > 0)
      visit(absl::Nanoseconds(static_cast<int64_t>(TopOf(first + together - 1))), count);
  }
}

}  // namespace opserve::loadtest
