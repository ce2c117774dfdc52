// Latencies as counts in buckets of a fixed relative width.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace opserve::loadtest {

// From 1 ns to 292 years. Thread-safe: recording is one atomic addition; readings taken while
// others record are of a moment in between.
class Histogram {
 public:
  // What Quantile says is at most this fraction above the recorded value, never below it.
  static constexpr double kRelativeError = 1.0 / 128;

  // Negative times count as 0.
  void Record(absl::Duration latency);
  void Merge(const Histogram& other);
  // Forgets everything. What others record meanwhile may be kept or not.
  void Reset();

  int64_t count() const;
  absl::Duration max() const;
  absl::Duration mean() const;

  // The latency that at least `fraction` (0 to 1) of those recorded do not exceed; 0 when empty.
  absl::Duration Quantile(double fraction) const;

  // Visits the buckets that are not empty, in order: the largest latency of each and how many it
  // holds. Some kPerOctave / `parts` neighbours are taken together: `parts`, a power of two, says
  // how finely each doubling of the latency is divided.
  void ForEachBucket(size_t parts,
                     absl::FunctionRef<void(absl::Duration top, int64_t count)> visit) const;

 private:
  static constexpr int kPrecisionBits = 7;  // kRelativeError is 2 to the minus this
  static constexpr size_t kPerOctave = size_t{1} << kPrecisionBits;
  static constexpr size_t kBuckets = (64 - kPrecisionBits) * kPerOctave;

  static size_t BucketOf(uint64_t nanoseconds);
  // The largest value of the bucket.
  static uint64_t TopOf(size_t bucket);
  void RaiseMax(int64_t nanoseconds);

  std::array<std::atomic<int64_t>, kBuckets> counts_ = {};
  std::atomic<int64_t> sum_ = 0;
  std::atomic<int64_t> max_ = 0;
};

}  // namespace opserve::loadtest
