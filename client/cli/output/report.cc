#include "client/cli/output/report.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

constexpr char kUsageUrl[] = "opserve/cli-usage";
constexpr char kTraceUrl[] = "opserve/cli-trace";
constexpr size_t kMaxErrorBytes = 4096;

}  // namespace

absl::Status UsageError(absl::Status status) {
  status.SetPayload(kUsageUrl, absl::Cord());
  return status;
}

absl::Status UsageError(std::string_view message) {
  return UsageError(absl::InvalidArgumentError(ToAbsl(message)));
}

absl::Status InTrace(absl::Status status, std::string_view trace_id) {
  status.SetPayload(kTraceUrl, absl::Cord(ToAbsl(trace_id)));
  return status;
}

std::string TraceIdOf(const absl::Status& status) {
  const auto trace_id = status.GetPayload(kTraceUrl);
  return trace_id.has_value() ? static_cast<std::string>(*trace_id) : "";
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  if (status.GetPayload(kUsageUrl).has_value()) return ExitCode::kUsage;
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status))
    return ExitCode::kUnreachable;
  return ExitCode::kFailed;
}

std::string ErrorLine(const absl::Status& status) {
  std::string line = absl::StrCat(
      "opserve: ",
      client::ShortText(client::PrintableText(ToStd(status.message())), kMaxErrorBytes));
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value() && ExitCodeOf(status) == ExitCode::kUsage) return line;
  line += " (";
  if (detail.has_value()) {
    const ErrorReasonInfo& info = GetErrorReasonInfo(detail->reason);
    absl::StrAppend(&line, ToAbsl(info.name), ", ");
    if (info.aclnn_code != 0) absl::StrAppend(&line, info.aclnn_code, ", ");
  }
  absl::StrAppend(&line, absl::StatusCodeToString(status.code()));
  if (detail.has_value() && detail->retry_after.has_value())
    absl::StrAppend(&line, ", try again in ", absl::FormatDuration(*detail->retry_after));
  if (const std::string trace_id = TraceIdOf(status); !trace_id.empty())
    absl::StrAppend(&line, ", trace ", trace_id);
  line.push_back(')');
  return line;
}

}  // namespace opserve::cli
