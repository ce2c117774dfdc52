#include "server/tracing/chrome_trace.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"
#include "server/tracing/call_spans.h"

namespace opserve::server {
namespace {

using nlohmann::ordered_json;

constexpr int kProcess = 1;

double Microseconds(absl::Duration duration) { return absl::ToDoubleMicroseconds(duration); }

ordered_json Event(std::string_view name, int row, absl::Time start, absl::Time end) {
  ordered_json event;
  event["name"] = std::string(name);
  event["ph"] = "X";
  event["pid"] = kProcess;
  event["tid"] = row;
  event["ts"] = Microseconds(start - absl::UnixEpoch());
  event["dur"] = Microseconds(end - start);
  return event;
}

ordered_json NameEvent(std::string_view kind, int row, std::string name) {
  ordered_json event;
  event["name"] = std::string(kind);
  event["ph"] = "M";
  event["pid"] = kProcess;
  event["tid"] = row;
  event["args"]["name"] = std::move(name);
  return event;
}

ordered_json ArgumentsOf(const CallRecord& call) {
  ordered_json arguments;
  arguments["code"] = absl::StatusCodeToString(call.code);
  if (call.reason.has_value())
    arguments["reason"] = std::string(GetErrorReasonInfo(*call.reason).name);
  arguments["peer"] = call.peer;
  if (call.calls > 0) arguments["calls"] = call.calls;
  arguments["request_bytes"] = call.request_bytes;
  arguments["response_bytes"] = call.response_bytes;
  if (call.trace.has_value()) arguments["trace_id"] = HexOf(call.trace->trace_id);
  return arguments;
}

// Rows of calls that do not overlap.
class Rows {
 public:
  // From 1 on.
  int Take(absl::Time start, absl::Time end) {
    auto row =
        std::find_if(ends_.begin(), ends_.end(), [&](absl::Time free) { return free <= start; });
    if (row == ends_.end()) row = ends_.insert(row, end);
    *row = end;
    return static_cast<int>(row - ends_.begin()) + 1;
  }
  int count() const { return static_cast<int>(ends_.size()); }

 private:
  std::vector<absl::Time> ends_;
};

}  // namespace

std::string ChromeTrace(std::span<const CallRecord> calls) {
  std::vector<const CallRecord*> in_order;
  for (const CallRecord& call : calls) in_order.push_back(&call);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto* a, const auto* b) { return StartOf(*a) < StartOf(*b); });
  ordered_json events = ordered_json::array();
  events.push_back(NameEvent("process_name", 0, "opserve-server"));
  Rows rows;
  for (const CallRecord* call : in_order) {
    const absl::Time start = StartOf(*call);
    const int row = rows.Take(start, call->ended_at);
    const std::string blank = call->op.empty() ? "" : " ";
    ordered_json event =
        Event(std::string(call->method) + blank + call->op, row, start, call->ended_at);
    event["args"] = ArgumentsOf(*call);
    events.push_back(std::move(event));
    for (const PhaseSpan& phase : PhasesOf(*call))
      events.push_back(Event(phase.name, row, phase.start, phase.end));
  }
  for (int row = 1; row <= rows.count(); ++row)
    events.push_back(NameEvent("thread_name", row, absl::StrCat("slow calls ", row)));
  ordered_json trace;
  trace["traceEvents"] = std::move(events);
  trace["displayTimeUnit"] = "ms";
  return trace.dump(-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
}

}  // namespace opserve::server
