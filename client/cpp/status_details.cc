#include "client/cpp/status_details.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "opserve/v1/errors.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kTypeUrl = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr std::string_view kDomain = "opserve";

std::optional<v1::ErrorInfo> FindErrorInfo(const std::string& details) {
  v1::StatusDetails status;
  if (!status.ParseFromString(details)) return std::nullopt;
  for (const google::protobuf::Any& any : status.details()) {
    v1::ErrorInfo info;
    if (any.type_url() == kTypeUrl && info.ParseFromString(any.value()) && info.domain() == kDomain)
      return info;
  }
  return std::nullopt;
}

// Nothing where it is not the number of milliseconds that it should be.
std::optional<absl::Duration> ReadWait(const std::string& text) {
  int64_t milliseconds = 0;
  if (!absl::SimpleAtoi(text, &milliseconds) || milliseconds < 0) return std::nullopt;
  return absl::Milliseconds(milliseconds);
}

std::optional<ErrorDetail> ToDetail(const v1::ErrorInfo& info) {
  for (const ErrorReasonInfo& row : ErrorReasons()) {
    if (row.name != info.reason()) continue;
    const auto text = [&info](const char* key) {
      const auto found = info.metadata().find(key);
      return found == info.metadata().end() ? std::string() : found->second;
    };
    return ErrorDetail{row.reason,   text("operator"), text("parameter"),
                       text("want"), text("got"),      ReadWait(text("retry_after_ms"))};
  }
  return std::nullopt;
}

}  // namespace

absl::Status StatusFromWire(int code, std::string_view message, const std::string& details) {
  absl::Status status(static_cast<absl::StatusCode>(code), ToAbsl(message));
  if (status.ok() || details.empty()) return status;
  const std::optional<v1::ErrorInfo> info = FindErrorInfo(details);
  if (!info.has_value()) return status;
  const std::optional<ErrorDetail> detail = ToDetail(*info);
  if (!detail.has_value()) return status;
  MakeError(*detail).ForEachPayload([&status](absl::string_view url, const absl::Cord& payload) {
    status.SetPayload(url, payload);
  });
  return status;
}

}  // namespace opserve::client
