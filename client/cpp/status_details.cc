#include "client/cpp/status_details.h"

#include <algorithm>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "client/cpp/printable_text.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr std::string_view kTypeUrl = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr std::string_view kDomain = "opserve";
// What has more is none of ours.
constexpr int kMaxDetails = 16;
constexpr size_t kMaxDetailBytes = size_t{16} << 10;

std::string Told(std::string_view text) {
  return ShortText(PrintableText(ShortText(text, kMaxErrorTextBytes)), kMaxErrorTextBytes);
}

std::optional<v1::ErrorInfo> FindErrorInfo(const v1::StatusDetails& status) {
  for (int i = 0; i < std::min(status.details_size(), kMaxDetails); ++i) {
    const google::protobuf::Any& any = status.details(i);
    if (any.type_url() != kTypeUrl || any.value().size() > kMaxDetailBytes) continue;
    v1::ErrorInfo info;
    if (info.ParseFromString(any.value()) && info.domain() == kDomain) return info;
  }
  return std::nullopt;
}

// Nothing where it is not the number of milliseconds that it should be.
std::optional<absl::Duration> ReadWait(const std::string& text) {
  int64_t milliseconds = 0;
  if (!absl::SimpleAtoi(text, &milliseconds) || milliseconds < 0) return std::nullopt;
  return std::min(absl::Milliseconds(milliseconds), kMaxRetryAfter);
}

std::optional<ErrorDetail> ToDetail(const v1::ErrorInfo& info) {
  for (const ErrorReasonInfo& row : ErrorReasons()) {
    if (row.name != info.reason()) continue;
    const auto text = [&info](const char* key) {
      const auto found = info.metadata().find(key);
      return found == info.metadata().end() ? std::string() : Told(found->second);
    };
    return ErrorDetail{row.reason,   text("operator"), text("parameter"),
                       text("want"), text("got"),      ReadWait(text("retry_after_ms"))};
  }
  return std::nullopt;
}

absl::StatusCode CodeFromWire(int code) {
  constexpr auto kLast = static_cast<int>(absl::StatusCode::kUnauthenticated);
  return code >= 0 && code <= kLast ? static_cast<absl::StatusCode>(code)
                                    : absl::StatusCode::kUnknown;
}

// `bare` with the detail that `info` has.
absl::Status WithDetail(absl::Status bare, const std::optional<v1::ErrorInfo>& info) {
  if (bare.ok() || !info.has_value()) return bare;
  const std::optional<ErrorDetail> detail = ToDetail(*info);
  if (!detail.has_value()) return bare;
  MakeError(*detail).ForEachPayload(
      [&bare](absl::string_view url, const absl::Cord& payload) { bare.SetPayload(url, payload); });
  return bare;
}

}  // namespace

absl::Status StatusFromWire(int code, std::string_view message, const std::string& details) {
  absl::Status bare(CodeFromWire(code), Told(message));
  v1::StatusDetails parsed;
  if (bare.ok() || details.empty() || !parsed.ParseFromString(details)) return bare;
  return WithDetail(std::move(bare), FindErrorInfo(parsed));
}

absl::Status StatusFromWire(const v1::StatusDetails& error) {
  absl::Status bare(CodeFromWire(error.code()), Told(error.message()));
  return WithDetail(std::move(bare), FindErrorInfo(error));
}

}  // namespace opserve::client
