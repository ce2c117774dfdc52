#include "core/engine/load/counters.h"

#include <algorithm>
#include <bit>

#include "core/base/usable_cores.h"

namespace opserve {
namespace {

// More would cost more to read than they save.
constexpr size_t kMaxPlaces = 16;

size_t NumOperators() { return AllOperators().size() + 1; }

size_t NumberOfThread() {
  static std::atomic<size_t> threads{0};
  constinit thread_local size_t number = 0;  // 0: none yet
  if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

template <size_t kCount>
void AddAll(const std::array<EngineCounters::Count, kCount>& counts,
            std::array<int64_t, kCount>& sums) {
  for (size_t i = 0; i < kCount; ++i) sums[i] += counts[i].load(std::memory_order_relaxed);
}

bool IsDrop(absl::StatusCode code) {
  return code == absl::StatusCode::kCancelled || code == absl::StatusCode::kDeadlineExceeded;
}

int64_t FailedCalls(const OperatorStatistics& statistics) {
  int64_t failed = 0;
  for (size_t i = 1; i < kNumCallCodes; ++i)
    failed += IsDrop(static_cast<absl::StatusCode>(i)) ? 0 : statistics.ended[i];
  return failed;
}

// Adds what was counted in one place.
void AddPlace(const EngineCounters::OfOperator& counts, OperatorStatistics& sum,
              EngineStatistics& statistics) {
  const int64_t inline_calls = counts.inline_calls;
  const int64_t queued_calls = counts.queued_calls;
  statistics.inline_calls += inline_calls;
  statistics.queued_calls += queued_calls;
  sum.calls += inline_calls + queued_calls;
  sum.queue_wait += absl::Nanoseconds(counts.queue_wait_ns.load());
  sum.execution += absl::Nanoseconds(counts.execution_ns.load());
  sum.input_bytes += counts.input_bytes;
  sum.output_bytes += counts.output_bytes;
  sum.ended[0] += counts.succeeded;
  AddAll(counts.failed, sum.ended);
  AddAll(counts.executed, sum.executed);
  AddAll(counts.queued, sum.queued);
  const int64_t last_success_ns = counts.last_success_ns;
  if (last_success_ns != 0)
    sum.last_success = std::max(sum.last_success, absl::FromUnixNanos(last_success_ns));
}

// Adds an operator to the whole, unless it was not called.
void AddOperator(OperatorStatistics sum, EngineStatistics& statistics) {
  if (sum.calls == 0) return;
  sum.failed_calls = FailedCalls(sum);
  statistics.failed_calls += sum.failed_calls;
  statistics.queue_wait += sum.queue_wait;
  statistics.execution += sum.execution;
  statistics.input_bytes += sum.input_bytes;
  statistics.output_bytes += sum.output_bytes;
  statistics.operators.push_back(sum);
}

}  // namespace

EngineCounters::EngineCounters(const Clock& with)
    : clock(with),
      num_places_(std::min(std::bit_ceil(static_cast<size_t>(UsableCores())), kMaxPlaces)),
      operators_(num_places_ * NumOperators()) {}

size_t EngineCounters::PlaceOfThread() const {
  return (NumberOfThread() & (num_places_ - 1)) * NumOperators();
}

void EngineCounters::CountRefusal(Admission::Refusal refusal) {
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

void EngineCounters::CountEnd(const OpCall& call, int64_t input_bytes, absl::Duration executed,
                              const absl::Status& status) {
  OfOperator& counts = Of(*call.op);
  Add(counts.execution_ns, executed);
  Add(counts.executed[DurationBucket(executed)], 1);
  CountOutcome(call, counts, input_bytes, status);
}

void EngineCounters::CountOutcome(const OpCall& call, int64_t input_bytes,
                                  const absl::Status& status) {
  CountOutcome(call, Of(*call.op), input_bytes, status);
}

void EngineCounters::CountOutcome(const OpCall& call, OfOperator& counts, int64_t input_bytes,
                                  const absl::Status& status) {
  Add(counts.input_bytes, input_bytes);
  if (!status.ok()) return CountFailure(*call.op, status.code());
  CountSuccesses(counts, 1);
  Add(counts.output_bytes, call.output_bytes());
}

void EngineCounters::CountSuccesses(const Operator& op, int64_t calls) {
  if (calls > 0) CountSuccesses(Of(op), calls);
}

void EngineCounters::CountSuccesses(OfOperator& counts, int64_t calls) {
  Add(counts.succeeded, calls);
  counts.last_success_ns.store(absl::ToUnixNanos(clock.Now()), std::memory_order_relaxed);
}

void EngineCounters::CountFailure(const Operator& op, absl::StatusCode code) {
  const auto number = static_cast<size_t>(code);
  const bool is_known = number < kNumCallCodes;
  Add(Of(op).failed[is_known ? number : static_cast<size_t>(absl::StatusCode::kUnknown)], 1);
  if (IsDrop(code)) CountDrop(code);
}

void EngineCounters::CountWait(const Operator& op, absl::Duration waited) {
  OfOperator& counts = Of(op);
  Add(counts.queue_wait_ns, waited);
  Add(counts.queued[DurationBucket(waited)], 1);
}

EngineStatistics EngineCounters::Read() const {
  EngineStatistics statistics{
      .expired_calls = expired_calls,
      .cancelled_calls = cancelled_calls,
      .refused_calls = refused_calls,
      .refused_bytes = refused_bytes,
      .refused_wait = refused_wait,
      .refused_deadline = refused_deadline,
      .queue_wait = absl::Nanoseconds(group_wait_ns.load()),
  };
  for (size_t i = 0; i < NumOperators(); ++i) {
    const bool is_program = i == AllOperators().size();
    OperatorStatistics sum{.op = is_program ? kProgramName : AllOperators()[i]->name};
    for (size_t place = 0; place < num_places_; ++place)
      AddPlace(operators_[place * NumOperators() + i], sum, statistics);
    AddOperator(sum, statistics);
  }
  return statistics;
}

}  // namespace opserve
