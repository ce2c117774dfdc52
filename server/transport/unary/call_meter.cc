#include "server/transport/unary/call_meter.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/codec/status_details.h"
#include "server/transport/messages/status.h"
#include "server/transport/unary/call_metadata.h"

namespace opserve::server {
namespace {

constexpr char kPushback[] = "grpc-retry-pushback-ms";

void AddPushback(const absl::Status& status, grpc::CallbackServerContext& context) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value() || !detail->retry_after.has_value()) return;
  context.AddTrailingMetadata(kPushback,
                              absl::StrCat(absl::ToInt64Milliseconds(*detail->retry_after)));
}

}  // namespace

CallMeter::CallMeter(const CallSinks& sinks, Method method, grpc::CallbackServerContext& context,
                     size_t request_bytes)
    : sinks_(sinks), method_(method), context_(context), request_bytes_(request_bytes) {
  sinks_.counters.CallBegan(method);
  if (sinks_.observer.IsWatching()) Watch();
}

CallMeter::~CallMeter() {
  if (record_ == nullptr) return;
  record_->phases.ended = sinks_.observer.clock().Now();
  sinks_.observer.Ended(*std::move(record_));
}

void CallMeter::Watch() {
  std::optional<TraceContext> trace = TraceOf(context_);
  const bool is_sampled = sinks_.observer.Samples(trace);
  if (!is_sampled && !sinks_.observer.WatchesAll()) return;
  record_ = std::make_unique<CallRecord>(RecordOf(MethodName(method_), context_));
  record_->trace = trace;
  record_->is_sampled = is_sampled;
  record_->request_bytes = request_bytes_;
  record_->phases.begun = sinks_.observer.clock().Now();
}

void CallMeter::HandOver(std::string_view op) {
  if (record_ == nullptr) return;
  record_->op = op;
  record_->phases.handed_over = sinks_.observer.clock().Now();
}

void CallMeter::Held(size_t calls, size_t failed_calls) {
  if (record_ == nullptr) return;
  record_->calls = static_cast<int64_t>(calls);
  record_->failed_calls = static_cast<int64_t>(failed_calls);
}

grpc::Status CallMeter::End(const absl::Status& status, size_t response_bytes) {
  Count(status, response_bytes);
  sinks_.load_reports.Add(times_, context_);
  if (status.ok()) return grpc::Status::OK;
  AddPushback(status, context_);
  return ToGrpcStatus(status);
}

void CallMeter::Count(const absl::Status& status, size_t response_bytes) {
  sinks_.counters.CallEnded(method_, {.code = status.code(),
                                      .request_bytes = request_bytes_,
                                      .response_bytes = response_bytes,
                                      .took = Clock::Real().Now() - start_});
  if (!status.ok()) sinks_.counters.Failed(MethodName(method_), ReasonOf(status), status);
  if (record_ != nullptr || !status.ok()) Report(status, response_bytes);
}

void CallMeter::Report(const absl::Status& status, size_t response_bytes) {
  if (record_ != nullptr) {
    record_->response_bytes = response_bytes;
    record_->phases.queued = times_.queued;
    record_->phases.executed = times_.executed;
    record_->phases.answered = sinks_.observer.clock().Now();
    TakeStatus(status, *record_);
  }
  sinks_.observer.log().Write(status, [&]() {
    if (record_ != nullptr) return *record_;
    CallRecord record = RecordOf(MethodName(method_), context_);
    record.request_bytes = request_bytes_;
    TakeStatus(status, record);
    return record;
  });
}

}  // namespace opserve::server
