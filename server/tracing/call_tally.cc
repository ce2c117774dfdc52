#include "server/tracing/call_tally.h"

#include <cstdint>
#include <utility>

#include "absl/time/clock.h"
#include "server/codec/status_details.h"

namespace opserve::server {

CallTally::CallTally(ServerCounters& counters, CallObserver& observer, Method method,
                     const CallOrigin& origin, size_t request_bytes)
    : counters_(counters),
      observer_(observer),
      method_(method),
      origin_(origin),
      request_bytes_(request_bytes) {
  counters_.CallBegan(method);
  if (observer_.IsWatching()) Watch();
}

CallTally::~CallTally() {
  if (record_ == nullptr) return;
  record_->phases.ended = observer_.clock().Now();
  observer_.Ended(*std::move(record_));
}

CallRecord CallTally::MakeRecord() const {
  CallRecord record;
  record.method = MethodName(method_);
  record.is_inference = method_ >= Method::kServerLive;
  record.peer = Shortened(origin_.peer());
  record.trace = origin_.trace();
  record.request_bytes = request_bytes_;
  return record;
}

void CallTally::Watch() {
  std::optional<TraceContext> trace = origin_.trace();
  const bool is_sampled = observer_.Samples(trace);
  if (!is_sampled && !observer_.WatchesAll()) return;
  record_ = std::make_unique<CallRecord>(MakeRecord());
  record_->trace = trace;
  record_->is_sampled = is_sampled;
  record_->phases.begun = observer_.clock().Now();
}

void CallTally::HandOver(std::string_view op) {
  op_ = op;
  if (record_ == nullptr) return;
  record_->op = op;
  record_->phases.handed_over = observer_.clock().Now();
}

void CallTally::Ran(absl::Duration queued, absl::Duration executed) {
  queued_ = queued;
  executed_ = executed;
  if (record_ == nullptr) return;
  record_->phases.queued = queued;
  record_->phases.executed = executed;
}

void CallTally::Held(size_t calls, size_t failed_calls) {
  if (record_ == nullptr) return;
  record_->calls = static_cast<int64_t>(calls);
  record_->failed_calls = static_cast<int64_t>(failed_calls);
}

void CallTally::Count(const absl::Status& status, size_t response_bytes) {
  const absl::Time now = Clock::Real().Now();
  counters_.CallEnded(method_, {.code = status.code(),
                                .request_bytes = request_bytes_,
                                .response_bytes = response_bytes,
                                .took = now - start_});
  if (counters_.exemplars().MayLook(static_cast<size_t>(method_), now - start_, now))
    KeepExemplars(now);
  if (!status.ok()) counters_.Failed(MethodName(method_), ReasonOf(status), status);
  if (record_ != nullptr || !status.ok()) Report(status, response_bytes);
}

void CallTally::KeepExemplars(absl::Time now) {
  const std::optional<TraceContext> trace = record_ != nullptr ? record_->trace : origin_.trace();
  if (!trace.has_value() || !trace->is_sampled()) return;
  Exemplars& exemplars = counters_.exemplars();
  const absl::Time ended_at = absl::Now();
  const auto keep = [&](TimedPart part, std::string_view of, absl::Duration value) {
    exemplars.Keep(part, of, {.trace = *trace, .value = value, .time = ended_at});
  };
  keep(TimedPart::kRpc, MethodName(method_), now - start_);
  if (op_.empty()) return;
  // A call that ran at once did not wait, and one that was refused did not run.
  if (queued_ > absl::ZeroDuration()) keep(TimedPart::kQueue, op_, queued_);
  if (executed_ > absl::ZeroDuration()) keep(TimedPart::kExecution, op_, executed_);
}

void CallTally::Report(const absl::Status& status, size_t response_bytes) {
  if (record_ != nullptr) {
    record_->response_bytes = response_bytes;
    record_->phases.answered = observer_.clock().Now();
    TakeStatus(status, *record_);
  }
  observer_.log().Write(status, [&]() {
    if (record_ != nullptr) return *record_;
    CallRecord record = MakeRecord();
    TakeStatus(status, record);
    return record;
  });
}

}  // namespace opserve::server
