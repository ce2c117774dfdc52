#include "server/rest/rest_status.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/codec/status_details.h"
#include "server/rest/json_reader.h"
#include "server/rest/message_json.h"

namespace opserve::server {
namespace {

// The ErrorInfo that the status has by gRPC, and when another try may succeed.
void AppendDetail(const google::rpc::Status& status, const ErrorDetail& detail, std::string& json) {
  google::rpc::ErrorInfo info;
  if (!status.details(0).UnpackTo(&info)) return;
  json.append(",\"info\":");
  AppendMessageJson(info, json);
  if (!detail.retry_after.has_value()) return;
  absl::StrAppend(&json, ",\"retry_after_ms\":", absl::ToInt64Milliseconds(*detail.retry_after));
}

}  // namespace

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;  // nobody reads it
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

std::string ErrorJson(const absl::Status& status) {
  const google::rpc::Status told = EncodeStatusDetails(status);  // its message is cut
  std::string json = "{\"error\":";
  AppendJsonString(told.message(), json);
  json.append(",\"code\":");
  AppendJsonString(absl::StatusCodeToString(status.code()), json);
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (detail.has_value()) AppendDetail(told, *detail, json);
  json.push_back('}');
  return json;
}

}  // namespace opserve::server
