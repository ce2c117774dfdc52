#include "client/cpp/status_details.h"

#include <algorithm>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "client/cpp/printable_text.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"

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

std::optional<ErrorDetail> FindErrorDetail(const google::rpc::Status& status) {
  const auto info = FindDetail<google::rpc::ErrorInfo>(
      status, [](const google::rpc::ErrorInfo& found) { return found.domain() == kDomain; });
  if (!info.has_value()) return std::nullopt;
  for (const ErrorReasonInfo& row : ErrorReasons()) {
    if (row.name != info->reason()) continue;
    const auto text = [&info](const char* key) {
      const auto found = info->metadata().find(key);
      return found == info->metadata().end() ? std::string() : Told(found->second);
    };
    return ErrorDetail{row.reason,   text("operator"), text("parameter"),
                       text("want"), text("got"),      FindWait(status)};
  }
  return std::nullopt;
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
