#include "server/transport/unary/call_meter.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
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
    : load_reports_(sinks.load_reports),
      context_(context),
      tally_(sinks.counters, sinks.observer, method, *this, request_bytes) {}

std::string CallMeter::peer() const { return context_.peer(); }

std::optional<TraceContext> CallMeter::trace() const { return TraceOf(context_); }

void CallMeter::Ran(const CallTimes& times) {
  times_ = times;
  tally_.Ran(times.queued, times.executed);
}

grpc::Status CallMeter::End(const absl::Status& status, size_t response_bytes) {
  Count(status, response_bytes);
  load_reports_.Add(times_, context_);
  if (status.ok()) return grpc::Status::OK;
  AddPushback(status, context_);
  return ToGrpcStatus(status);
}

}  // namespace opserve::server
