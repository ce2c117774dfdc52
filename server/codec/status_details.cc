#include "server/codec/status_details.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"

namespace opserve::server {
namespace {

constexpr std::string_view kDomain = "opserve.dev";

// The message travels twice: as grpc-message, where a byte may take three, and in the details.
constexpr size_t kMaxMessageBytes = 768;
constexpr size_t kMaxMetadataBytes = 384;

constexpr std::string_view kEllipsis = "…";

// Cut between characters, with an ellipsis.
std::string Cut(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

ErrorReason ReasonOfCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return ErrorReason::kInvalidParameter;
    case absl::StatusCode::kResourceExhausted:
      return ErrorReason::kResourceLimit;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorReason::kDeadlineExceeded;
    case absl::StatusCode::kCancelled:
      return ErrorReason::kCancelled;
    case absl::StatusCode::kUnavailable:
      return ErrorReason::kDraining;
    case absl::StatusCode::kUnauthenticated:
      return ErrorReason::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorReason::kPermissionDenied;
    default:
      return ErrorReason::kInternal;
  }
}

void AddMetadata(google::rpc::ErrorInfo& info, const char* key, std::string_view value) {
  if (!value.empty()) (*info.mutable_metadata())[key] = Cut(value, kMaxMetadataBytes);
}

google::rpc::ErrorInfo ToErrorInfo(const ErrorDetail& detail) {
  const ErrorReasonInfo& reason = GetErrorReasonInfo(detail.reason);
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason.name));
  info.set_domain(std::string(kDomain));
  if (reason.aclnn_code != 0) AddMetadata(info, "code", absl::StrCat(reason.aclnn_code));
  AddMetadata(info, "operator", detail.op);
  AddMetadata(info, "parameter", detail.parameter);
  AddMetadata(info, "got", detail.got);
  AddMetadata(info, "want", detail.want);
  return info;
}

}  // namespace

ErrorReason ReasonOf(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  return detail.has_value() ? detail->reason : ReasonOfCode(status.code());
}

google::rpc::Status EncodeStatusDetails(const absl::Status& status) {
  ErrorDetail foreign;
  foreign.reason = ReasonOfCode(status.code());
  const ErrorDetail detail = GetErrorDetail(status).value_or(foreign);
  const google::rpc::ErrorInfo info = ToErrorInfo(detail);
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(Cut(ToStd(status.message()), kMaxMessageBytes));
  details.add_details()->PackFrom(info);
  if (detail.retry_after.has_value()) {
    google::rpc::RetryInfo retry;
    const int64_t milliseconds = absl::ToInt64Milliseconds(*detail.retry_after);
    retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(milliseconds % 1000 * 1000000));
    details.add_details()->PackFrom(retry);
  }
  return details;
}

}  // namespace opserve::server
