// What an engine counts. Relaxed: each number is right, all of them together are of about the same
// time.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "core/engine/admission.h"

namespace opserve {

struct EngineCounters {
  using Count = std::atomic<int64_t>;

  static void Add(Count& count, int64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

  void CountRefusal(Admission::Refusal refusal) {
    switch (refusal) {
      case Admission::Refusal::kNone:
        break;
      case Admission::Refusal::kCalls:
        return Add(refused_calls, 1);
      case Admission::Refusal::kBytes:
        return Add(refused_bytes, 1);
      case Admission::Refusal::kWait:
        return Add(refused_wait, 1);
      case Admission::Refusal::kDeadline:
        return Add(refused_deadline, 1);
    }
  }

  void CountFailure(absl::StatusCode code) {
    if (code == absl::StatusCode::kCancelled) return Add(cancelled_calls, 1);
    if (code == absl::StatusCode::kDeadlineExceeded) return Add(expired_calls, 1);
    Add(failed_calls, 1);
  }

  Count inline_calls{0};
  Count queued_calls{0};
  Count failed_calls{0};
  Count input_bytes{0};
  Count output_bytes{0};
  Count refused_calls{0};
  Count refused_bytes{0};
  Count refused_wait{0};
  Count refused_deadline{0};
  Count expired_calls{0};
  Count cancelled_calls{0};
  Count queue_wait_ns{0};
  Count execution_ns{0};
};

}  // namespace opserve
