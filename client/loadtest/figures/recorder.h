// What happened during a load, window by window.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/loadtest/figures/failures.h"
#include "client/loadtest/figures/histogram.h"
#include "client/loadtest/figures/outcome.h"

namespace opserve::loadtest {

// The messages of one stretch of time. Thread-safe.
struct Tally {
  Histogram latency;   // of messages that were served, from when they were due
  Histogram refusal;   // of those that failed
  Histogram queued;    // of a call, as the server says
  Histogram executed;  // likewise
  Histogram lag;       // how late messages left: what this machine, not the server, is slow by
  std::atomic<int64_t> served_calls = 0;
  std::atomic<int64_t> failed_calls = 0;
  std::atomic<int64_t> in_time_calls = 0;  // served, and answered before the measurement's end
  std::atomic<int64_t> unsent_calls = 0;   // due, but too many were outstanding, or it was too late
  std::atomic<int64_t> request_bytes = 0;  // of those in time
  std::atomic<int64_t> answer_bytes = 0;   // likewise

  void Merge(const Tally& other);
  void Reset();
};

// A window, for a time line. Rates are a second.
struct Window {
  absl::Duration begin;  // since the measurement's
  absl::Duration length;
  double calls_per_second = 0;
  double request_bytes_per_second = 0;
  double answer_bytes_per_second = 0;
  int64_t failed_calls = 0;
  int64_t unsent_calls = 0;
  absl::Duration p50, p90, p99, max;
};

// Whether the last three windows have rates within ±`tolerance` of their mean, and p50s likewise.
bool IsStable(const std::vector<Window>& windows, double tolerance);

// Which windows count in the end.
enum class Keep : uint8_t { kAll, kLastThree };

// Messages are recorded from any thread; Begin, CloseWindow, End and Merged are one thread's.
class Recorder {
 public:
  struct Message {
    size_t work = 0;  // which entry of the mix it was
    absl::Time due;
    absl::Time sent;
    absl::Time answered;
  };
  // Of one entry of the mix.
  struct WorkTally {
    Histogram latency;
    std::atomic<int64_t> served_calls = 0;
    std::atomic<int64_t> failed_calls = 0;
  };
  // Of the whole load, with what came before and after the measurement.
  struct Totals {
    std::atomic<int64_t> messages = 0;
    std::atomic<int64_t> calls = 0;
    std::atomic<int64_t> failed_calls = 0;
    std::atomic<int64_t> checked_calls = 0;
  };

  explicit Recorder(size_t works);

  // The measurement begins; what ended before was warming up.
  void Begin(absl::Time now, Keep keep);
  Window CloseWindow(absl::Time now);
  // What ends after `now` has its latency counted, but is in no rate, except for its part of
  // ServedPerSecond. The last window stays open.
  void End(absl::Time now);

  void Answered(const Message& message, const Outcome& outcome);
  void Unsent(size_t work, int64_t calls);

  // The windows that count, as one; and the time that they took. Once everything is over, and once
  // only.
  const Tally& Merged();
  absl::Duration measured() const { return measured_; }
  // Served calls a second of a load that keeps as many under way at all times, after Merged. Of all
  // windows, a call counts by the part of its time that lies inside the measurement, so that the
  // few that are under way when it begins and ends do not blur the rate of slow ones.
  double ServedPerSecond() const;
  // The same of any load, by the calls that were answered in time.
  double InTimePerSecond() const;

  const Totals& totals() const { return totals_; }
  const Failures& failures() const { return failures_; }
  // Of the warm-up.
  const Failures& early_failures() const { return early_failures_; }
  const WorkTally& work(size_t index) const { return *works_[index]; }
  size_t works() const { return works_.size(); }

 private:
  static constexpr size_t kTallies = 5;  // the last ones; a slow thread may still write to one

  Tally& current() { return *tallies_[current_.load(std::memory_order_acquire)]; }
  void RecordIn(Tally& tally, const Message& message, const Outcome& outcome);
  double PartInside(const Message& message) const;

  // A ring: the current one, and those before it, as far as `closed_` says.
  std::array<std::unique_ptr<Tally>, kTallies> tallies_;
  std::array<absl::Duration, kTallies> lengths_;
  std::atomic<size_t> current_ = 0;
  size_t closed_ = 0;
  Tally older_;  // those that left the ring
  Keep keep_ = Keep::kAll;
  absl::Time begin_;
  absl::Time window_begin_;
  absl::Duration measured_;
  std::atomic<bool> measuring_ = false;
  std::atomic<int64_t> end_ns_;
  std::atomic<int64_t> served_billionths_ = 0;  // parts of calls
  std::vector<std::unique_ptr<WorkTally>> works_;
  Totals totals_;
  Failures failures_;
  Failures early_failures_;
};

}  // namespace opserve::loadtest
