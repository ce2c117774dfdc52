// What an engine counts.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "core/base/clock.h"
#include "core/base/duration_buckets.h"
#include "core/engine/load/admission.h"
#include "core/op/op_call.h"
#include "core/op/op_table.h"
#include "core/program/program.h"

namespace opserve {

inline constexpr size_t kNumCallCodes = static_cast<size_t>(absl::StatusCode::kUnauthenticated) + 1;

// What became of the calls of one operator.
struct OperatorStatistics {
  std::string_view op;
  int64_t calls = 0;         // run on the thread that brought them, and queued
  int64_t failed_calls = 0;  // as EngineStatistics', and so are the others
  absl::Duration queue_wait;
  absl::Duration execution;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  absl::Time last_success = absl::InfinitePast();  // when a call ended well; none has yet
  // Calls that ended, by absl::StatusCode; of those, how long each ran; and how long each queued
  // call waited.
  std::array<int64_t, kNumCallCodes> ended = {};
  DurationCounts executed = {};
  DurationCounts queued = {};
};

// What an engine has done since it was made, and has under way. All but the last three only grow.
struct EngineStatistics {
  // Run on the thread that brought them: a worker, where that is a stream's turn.
  int64_t inline_calls = 0;
  int64_t queued_calls = 0;  // that waited for a device's workers, or do now
  int64_t failed_calls = 0;  // of both: ended with an error other than the next two
  int64_t expired_calls =
      0;  // dropped, before they ran or at a chunk's end, as their deadline passed
  int64_t cancelled_calls = 0;   // likewise, as their caller went away
  int64_t refused_calls = 0;     // by the bound on calls in flight
  int64_t refused_bytes = 0;     // by the bound on bytes in flight (calls, not bytes)
  int64_t refused_wait = 0;      // by the bound on the expected wait
  int64_t refused_deadline = 0;  // as the expected wait was longer than the deadline
  int64_t input_bytes = 0;       // of calls that began, wherever they lay
  int64_t output_bytes = 0;      // of those that succeeded
  absl::Duration queue_wait;  // of queued calls and groups, from Submit to their start, summed up
  absl::Duration execution;   // of both, from start to end, summed up
  // Of those that were called, in the order of AllOperators; all programs are the last. Calls,
  // failed calls, bytes and execution add up to the whole's; to its queue_wait what groups waited
  // is missing, as they are of many operators.
  std::vector<OperatorStatistics> operators;
  int64_t calls_in_flight = 0;   // queued or running on workers now
  int64_t bytes_in_flight = 0;   // of their inputs, outputs and workspaces
  absl::Duration expected_wait;  // of a call that came now, on the busiest device
};

// Relaxed: each number is right, all of them together are of about the same time.
//
// What calls count is there several times, and each thread counts in one place: threads that count
// the calls of one operator at the same time would wait for each other's cache line.
struct EngineCounters {
  using Count = std::atomic<int64_t>;

  // Of the calls of one operator, by some of the threads. Cache lines of its own.
  struct alignas(64) OfOperator {
    Count inline_calls{0};
    Count queued_calls{0};
    Count succeeded{0};
    Count input_bytes{0};
    Count output_bytes{0};
    Count queue_wait_ns{0};
    Count execution_ns{0};
    Count last_success_ns{0};  // since the epoch; 0: none
    // Of those that failed, by code.
    std::array<Count, kNumCallCodes> failed = {};
    std::array<Count, kNumDurationBuckets> executed = {};
    std::array<Count, kNumDurationBuckets> queued = {};
  };

  // The clock must outlive this.
  explicit EngineCounters(const Clock& with);

  static void Add(Count& count, int64_t more) { count.fetch_add(more, std::memory_order_relaxed); }
  static void Add(Count& count_ns, absl::Duration more) {
    Add(count_ns, absl::ToInt64Nanoseconds(more));
  }

  OfOperator& Of(const Operator& op) { return operators_[PlaceOfThread() + IndexOf(op)]; }

  void CountRefusal(Admission::Refusal refusal);
  // Of a call that ran: what it read, how long it took, and what it wrote or why it did not.
  void CountEnd(const OpCall& call, int64_t input_bytes, absl::Duration executed,
                const absl::Status& status);
  // Likewise, of one whose time was counted.
  void CountOutcome(const OpCall& call, int64_t input_bytes, const absl::Status& status);
  // Of calls that ended well, or one that did not: nothing else of it is counted here.
  void CountSuccesses(const Operator& op, int64_t calls);
  void CountFailure(const Operator& op, absl::StatusCode code);
  // How long each of so many calls ran.
  void CountExecutions(const Operator& op, absl::Duration each, int64_t calls) {
    Add(Of(op).executed[DurationBucket(each)], calls);
  }
  void CountWait(const Operator& op, absl::Duration waited);
  // CANCELLED or DEADLINE_EXCEEDED.
  void CountDrop(absl::StatusCode code) {
    Add(code == absl::StatusCode::kCancelled ? cancelled_calls : expired_calls, 1);
  }

  // All but what is under way.
  EngineStatistics Read() const;

  const Clock& clock;  // that times are counted by
  // What can be of calls of many operators.
  Count refused_calls{0};
  Count refused_bytes{0};
  Count refused_wait{0};
  Count refused_deadline{0};
  Count expired_calls{0};
  Count cancelled_calls{0};
  Count group_wait_ns{0};

 private:
  void CountOutcome(const OpCall& call, OfOperator& counts, int64_t input_bytes,
                    const absl::Status& status);
  void CountSuccesses(OfOperator& counts, int64_t calls);

  // The first of the thread's place.
  size_t PlaceOfThread() const;

  static size_t IndexOf(const Operator& op) {
    return AsProgram(op) == nullptr ? OperatorIndex(op) : AllOperators().size();
  }

  const size_t num_places_;  // a power of two
  // Place by place, in each in the order of AllOperators; all programs are the last.
  std::vector<OfOperator> operators_;
};

}  // namespace opserve
