#include "server/tracing/call_log.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"
#include "server/codec/status_details.h"

namespace opserve::server {
namespace {

bool IsOwnFault(absl::StatusCode code) {
  return code == absl::StatusCode::kInternal || code == absl::StatusCode::kUnknown ||
         code == absl::StatusCode::kDataLoss;
}

LogLevel LevelOf(absl::StatusCode code) {
  if (code == absl::StatusCode::kOk) return LogLevel::kDebug;
  return IsOwnFault(code) ? LogLevel::kError : LogLevel::kInfo;
}

template <size_t... kIndices>
std::array<LimitedLog, sizeof...(kIndices)> MakeLimits(
    const Clock& clock, std::index_sequence<kIndices...> /*reasons*/) {
  return {((void)kIndices, LimitedLog(clock))...};
}

class Line {
 public:
  // Nothing of a text that is empty.
  void Add(std::string_view key, std::string_view text) {
    if (!text.empty()) fields_.push_back({key, std::string(text)});
  }
  void Add(std::string_view key, int64_t number) { fields_.push_back(LogNumber(key, number)); }
  void Add(std::string_view key, absl::Duration time) { Add(key, absl::ToInt64Nanoseconds(time)); }
  const std::vector<LogField>& fields() const { return fields_; }

 private:
  std::vector<LogField> fields_;
};

void AddTimes(const CallPhases& phases, Line& line) {
  if (phases.begun == absl::InfinitePast()) return;
  if (phases.handed_over > absl::InfinitePast()) {
    line.Add("queued_ns", phases.queued);
    line.Add("executed_ns", phases.executed);
  }
  line.Add("took_ns", phases.answered - phases.begun);
}

std::vector<LogField> FieldsOf(const CallRecord& call, int64_t left_out) {
  Line line;
  line.Add("method", call.method);
  line.Add("op", call.op);
  line.Add("code", ToStd(absl::StatusCodeToString(call.code)));
  if (call.reason.has_value()) line.Add("reason", GetErrorReasonInfo(*call.reason).name);
  line.Add("parameter", call.parameter);
  line.Add("error", call.fault);
  line.Add("peer", call.peer);
  if (call.calls > 0) line.Add("calls", call.calls);
  if (call.failed_calls > 0) line.Add("failed_calls", call.failed_calls);
  if (call.command > 0) {
    line.Add("command", static_cast<int64_t>(call.command));
  } else {
    line.Add("request_bytes", static_cast<int64_t>(call.request_bytes));
    line.Add("response_bytes", static_cast<int64_t>(call.response_bytes));
  }
  AddTimes(call.phases, line);
  if (call.trace.has_value()) line.Add("trace_id", HexOf(call.trace->trace_id));
  if (left_out > 0) line.Add("left_out", left_out);
  return line.fields();
}

}  // namespace

CallLog::CallLog(const Clock& clock)
    : calls_(clock, kCallsPerSecond),
      errors_(MakeLimits(clock, std::make_index_sequence<kNumErrorReasons>())) {}

LimitedLog& CallLog::LimitOf(const absl::Status& status) {
  return status.ok() ? calls_ : errors_[static_cast<size_t>(ReasonOf(status))];
}

void CallLog::Write(const absl::Status& status, absl::FunctionRef<CallRecord()> describe) {
  const LogLevel level = LevelOf(status.code());
  if (!LogEnabled(level)) return;
  const std::optional<int64_t> left_out = LimitOf(status).Admit();
  if (left_out.has_value()) Log(level, "call", FieldsOf(describe(), *left_out));
}

}  // namespace opserve::server
