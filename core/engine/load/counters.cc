#include "core/engine/load/counters.h"

namespace opserve {
namespace {

// Adds what was counted of an operator to the whole, unless it was not called.
void AddOperator(const Operator& op, const EngineCounters::OfOperator& counts,
                 EngineStatistics& statistics) {
  const int64_t inline_calls = counts.inline_calls;
  const int64_t queued_calls = counts.queued_calls;
  if (inline_calls + queued_calls == 0) return;
  const OperatorStatistics& added = statistics.operators.emplace_back(
      OperatorStatistics{.op = op.name,
                         .calls = inline_calls + queued_calls,
                         .failed_calls = counts.failed_calls,
                         .queue_wait = absl::Nanoseconds(counts.queue_wait_ns.load()),
                         .execution = absl::Nanoseconds(counts.execution_ns.load()),
                         .input_bytes = counts.input_bytes,
                         .output_bytes = counts.output_bytes});
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
  OfOperator& counts = Of(*call.op);
  Add(counts.input_bytes, input_bytes);
  Add(counts.execution_ns, executed);
  if (status.ok()) return Add(counts.output_bytes, call.output_bytes());
  CountFailure(*call.op, status.code());
}

void EngineCounters::CountFailure(const Operator& op, absl::StatusCode code) {
  if (code == absl::StatusCode::kCancelled || code == absl::StatusCode::kDeadlineExceeded)
    return CountDrop(code);
  Add(Of(op).failed_calls, 1);
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
  for (const Operator* op : AllOperators()) AddOperator(*op, Of(*op), statistics);
  return statistics;
}

}  // namespace opserve
