#include "core/engine/load/counters.h"

namespace opserve {
namespace {

template <size_t kCount>
std::array<int64_t, kCount> ReadAll(const std::array<EngineCounters::Count, kCount>& counts) {
  std::array<int64_t, kCount> numbers = {};
  for (size_t i = 0; i < kCount; ++i) numbers[i] = counts[i].load(std::memory_order_relaxed);
  return numbers;
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

// Adds what was counted of an operator to the whole, unless it was not called.
void AddOperator(std::string_view op, const EngineCounters::OfOperator& counts,
                 EngineStatistics& statistics) {
  const int64_t inline_calls = counts.inline_calls;
  const int64_t queued_calls = counts.queued_calls;
  if (inline_calls + queued_calls == 0) return;
  OperatorStatistics& added = statistics.operators.emplace_back(
      OperatorStatistics{.op = op,
                         .calls = inline_calls + queued_calls,
                         .queue_wait = absl::Nanoseconds(counts.queue_wait_ns.load()),
                         .execution = absl::Nanoseconds(counts.execution_ns.load()),
                         .input_bytes = counts.input_bytes,
                         .output_bytes = counts.output_bytes,
                         .ended = ReadAll(counts.failed),
                         .executed = ReadAll(counts.executed),
                         .queued = ReadAll(counts.queued)});
  added.ended[0] = counts.succeeded;
  const int64_t last_success_ns = counts.last_success_ns;
  if (last_success_ns != 0) added.last_success = absl::FromUnixNanos(last_success_ns);
  added.failed_calls = FailedCalls(added);
  statistics.inline_calls += inline_calls;
  statistics.queued_calls += queued_calls;
  statistics.failed_calls += added.failed_calls;
  statistics.queue_wait += added.queue_wait;
  statistics.execution += added.execution;
  statistics.input_bytes += added.input_bytes;
  statistics.output_bytes += added.output_bytes;
}

}  // namespace

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
  Add(Of(*call.op).execution_ns, executed);
  CountExecutions(*call.op, executed, 1);
  CountOutcome(call, input_bytes, status);
}

void EngineCounters::CountOutcome(const OpCall& call, int64_t input_bytes,
                                  const absl::Status& status) {
  OfOperator& counts = Of(*call.op);
  Add(counts.input_bytes, input_bytes);
  if (!status.ok()) return CountFailure(*call.op, status.code());
  CountSuccesses(*call.op, 1);
  Add(counts.output_bytes, call.output_bytes());
}

void EngineCounters::CountSuccesses(const Operator& op, int64_t calls) {
  if (calls == 0) return;
  OfOperator& counts = Of(op);
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
  for (size_t i = 0; i < operators.size(); ++i) {
    const bool is_program = i == AllOperators().size();
    AddOperator(is_program ? kProgramName : AllOperators()[i]->name, operators[i], statistics);
  }
  return statistics;
}

}  // namespace opserve
