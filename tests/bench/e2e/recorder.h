// What happened during a run, as it is reported.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "tests/bench/e2e/engine.h"

namespace opserve::bench {

// The messages of one stretch of time.
struct Tally {
  static constexpr size_t kCodes = 17;

  Histogram served;                                     // latencies
  Histogram failed;                                     // how long it took to be told so
  std::array<std::atomic<int64_t>, kCodes> codes = {};  // of those that failed, by code
  std::atomic<int64_t> unsent = 0;                      // open loop: due, but see RunOpenLoop

  void Add(absl::Duration latency, const absl::Status& status);
};

// Thread-safe.
class Recorder {
 public:
  struct Layout {
    absl::Time start;
    absl::Time end;
    std::vector<absl::Time> phase_ends;
    absl::Duration interval;  // 0 = no tallies by time
  };

  explicit Recorder(Layout layout);

  // Of a closed loop: a message that was under way at any time of the recording, even if it ends
  // later.
  void Record(absl::Time sent, absl::Time answered, const absl::Status& status);
  // Of an open loop: a message that was due during the recording.
  void RecordDue(absl::Time due, absl::Time answered, const absl::Status& status);
  void RecordUnsent(absl::Time due);

  // The first wrong answer or other defect, not a refusal: the run is worth nothing then.
  void Fault(const absl::Status& status);
  absl::Status fault() const;

  const Layout& layout() const { return layout_; }
  const Tally& total() const { return total_; }
  const std::vector<std::unique_ptr<Tally>>& phases() const { return phases_; }
  const std::vector<std::unique_ptr<Tally>>& intervals() const { return intervals_; }

  // Served messages a second, from the first moment to the last: not blurred by the few that are
  // under way when the window opens and closes.
  double ServedPerSecond() const;

 private:
  template <typename Visitor>
  void Visit(absl::Time moment, Visitor visit);
  void RecordAt(absl::Time moment, absl::Duration latency, const absl::Status& status);
  double PartInside(absl::Time sent, absl::Time answered) const;

  const Layout layout_;
  Tally total_;
  std::vector<std::unique_ptr<Tally>> phases_;
  std::vector<std::unique_ptr<Tally>> intervals_;
  std::atomic<int64_t> served_billionths_ = 0;  // parts of messages
  mutable Mutex mutex_;
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::bench
