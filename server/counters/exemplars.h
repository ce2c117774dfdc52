// Single traced calls, beside the histograms that count them: one for each bucket.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/duration_buckets.h"
#include "core/base/mutex.h"
#include "core/base/trace_context.h"

namespace opserve::server {

// The histograms of times.
enum class TimedPart : uint8_t { kRpc, kQueue, kExecution };

struct Exemplar {
  TraceContext trace;  // parent_id: the caller's span; zeros where the trace began here
  absl::Duration value;
  absl::Time time;  // when it ended, by the wall clock
};

// By histogram, the method or operator that it is of, and the bucket.
using ExemplarMap = std::map<std::tuple<TimedPart, std::string_view, size_t>, Exemplar>;

// Keeps the latest traced call of each bucket. Thread-safe. Takes up to 150 bytes for each bucket
// of each method and operator.
class Exemplars {
 public:
  // A call costs a look at its metadata. Of the calls that end in one bucket so many are looked at
  // at once, and so many a second.
  static constexpr int64_t kLooksAtOnce = 100;
  static constexpr int64_t kLooksPerSecond = 1000;

  explicit Exemplars(size_t methods) : due_ns_(methods) {}

  // Keeps none before.
  void Start() { is_on_.store(true, std::memory_order_relaxed); }

  // Whether it is worth finding out if a call of the method that took so long, and ended at `now`,
  // was traced. Where it is not, this is all that the call costs.
  bool MayLook(size_t method, absl::Duration took, absl::Time now);

  // `of` lives forever.
  void Keep(TimedPart part, std::string_view of, const Exemplar& exemplar);

  ExemplarMap Kept() const;

 private:
  std::atomic<bool> is_on_ = false;
  // When the next look would be, if looks came evenly. By method and bucket.
  std::vector<std::array<std::atomic<int64_t>, kNumDurationBuckets>> due_ns_;
  mutable Mutex mutex_;
  ExemplarMap kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
