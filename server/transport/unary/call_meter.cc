#include "server/transport/unary/call_meter.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/codec/status_details.h"
#include "server/transport/messages/status.h"

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

CallMeter::CallMeter(ServerCounters& counters, Method method, grpc::CallbackServerContext& context,
                     size_t request_bytes)
    : counters_(counters), method_(method), context_(context), request_bytes_(request_bytes) {
  counters_.CallBegan(method);
}

grpc::Status CallMeter::End(const absl::Status& status, size_t response_bytes) {
  Count(status, response_bytes);
  if (status.ok()) return grpc::Status::OK;
  AddPushback(status, context_);
  return ToGrpcStatus(status);
}

void CallMeter::Count(const absl::Status& status, size_t response_bytes) {
  counters_.CallEnded(method_, status.code(), request_bytes_, response_bytes);
  if (!status.ok()) counters_.Failed(ReasonOf(status));
}

}  // namespace opserve::server
