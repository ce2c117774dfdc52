#include "server/tracing/call_record.h"

#include "core/base/strings.h"
#include "server/codec/status_details.h"

namespace opserve::server {
namespace {

bool IsServersFault(ErrorReason reason) {
  return reason == ErrorReason::kInternal || reason == ErrorReason::kDeviceError ||
         reason == ErrorReason::kDeviceLost;
}

}  // namespace

void TakeStatus(const absl::Status& status, CallRecord& record) {
  record.code = status.code();
  if (status.ok()) return;
  record.reason = ReasonOf(status);
  if (IsServersFault(*record.reason)) record.fault = Shortened(ToStd(status.message()));
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value()) return;
  record.parameter = Shortened(detail->parameter);
  if (record.op.empty()) record.op = Shortened(detail->op);
}

std::string Shortened(std::string_view text) {
  return std::string(text.substr(0, CallRecord::kMaxTextBytes));
}

}  // namespace opserve::server
