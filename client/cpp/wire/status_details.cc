#include "client/cpp/wire/status_details.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kDomain = "opserve.dev";
// What has more is none of ours.
constexpr int kMaxDetails = 16;
constexpr size_t kMaxDetailBytes = size_t{16} << 10;

std::string Told(std::string_view text) {
  return ShortText(PrintableText(ShortText(text, kMaxErrorTextBytes)), kMaxErrorTextBytes);
}

// The first of the details that is a T for which accept(T) is true.
template <typename T, typename Accept>
std::optional<T> FindDetail(const google::rpc::Status& status, Accept accept) {
  for (int i = 0; i < std::min(status.details_size(), kMaxDetails); ++i) {
    const google::protobuf::Any& any = status.details(i);
    T detail;
    if (any.value().size() <= kMaxDetailBytes && any.UnpackTo(&detail) && accept(detail))
      return detail;
  }
  return std::nullopt;
}

// Nothing where it is no time to wait.
std::optional<absl::Duration> FindWait(const google::rpc::Status& status) {
  const auto retry =
      FindDetail<google::rpc::RetryInfo>(status, [](const google::rpc::RetryInfo& info) {
        return info.retry_delay().seconds() >= 0 && info.retry_delay().nanos() >= 0;
      });
  if (!retry.has_value()) return std::nullopt;
  return std::min(absl::Seconds(retry->retry_delay().seconds()) +
                      absl::Nanoseconds(retry->retry_delay().nanos()),
                  kMaxRetryAfter);
}

// Of a reason that a newer server has, the general one of its aclnn code.
std::optional<ErrorReason> FindReason(std::string_view name, std::string_view aclnn_code) {
  const std::span<const ErrorReasonInfo> rows = ErrorReasons();
  const auto named = std::find_if(rows.begin(), rows.end(),
                                  [name](const ErrorReasonInfo& row) { return row.name == name; });
  if (named != rows.end()) return named->reason;
  for (const ErrorReason general : {ErrorReason::kMissingParameter, ErrorReason::kInvalidParameter,
                                    ErrorReason::kDeviceError, ErrorReason::kInternal}) {
    if (aclnn_code == absl::StrCat(GetErrorReasonInfo(general).aclnn_code)) return general;
  }
  return std::nullopt;
}

std::optional<ErrorDetail> FindErrorDetail(const google::rpc::Status& status) {
  const auto info = FindDetail<google::rpc::ErrorInfo>(
      status, [](const google::rpc::ErrorInfo& found) { return found.domain() == kDomain; });
  if (!info.has_value()) return std::nullopt;
  const auto text = [&info](const char* key) {
    const auto found = info->metadata().find(key);
    return found == info->metadata().end() ? std::string() : Told(found->second);
  };
  const std::optional<ErrorReason> reason = FindReason(info->reason(), text("code"));
  if (!reason.has_value()) return std::nullopt;
  return ErrorDetail{*reason,      text("operator"), text("parameter"),
                     text("want"), text("got"),      FindWait(status)};
}

absl::StatusCode CodeFromWire(int code) {
  constexpr auto kLast = static_cast<int>(absl::StatusCode::kUnauthenticated);
  return code >= 0 && code <= kLast ? static_cast<absl::StatusCode>(code)
                                    : absl::StatusCode::kUnknown;
}

// `bare` with the detail that `status` has.
absl::Status WithDetail(absl::Status bare, const google::rpc::Status& status) {
  if (bare.ok()) return bare;
  const std::optional<ErrorDetail> detail = FindErrorDetail(status);
  if (!detail.has_value()) return bare;
  MakeError(*detail).ForEachPayload(
      [&bare](absl::string_view url, const absl::Cord& payload) { bare.SetPayload(url, payload); });
  return bare;
}

}  // namespace

absl::Status StatusFromWire(int code, std::string_view message, const std::string& details) {
  absl::Status bare(CodeFromWire(code), Told(message));
  google::rpc::Status parsed;
  if (bare.ok() || details.empty() || !parsed.ParseFromString(details)) return bare;
  return WithDetail(std::move(bare), parsed);
}

absl::Status StatusFromWire(const google::rpc::Status& error) {
  absl::Status bare(CodeFromWire(error.code()), Told(error.message()));
  return WithDetail(std::move(bare), error);
}

}  // namespace opserve::client
