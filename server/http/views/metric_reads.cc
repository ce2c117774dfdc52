#include "server/http/views/metric_reads.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server::metric {
namespace {

// OK, and those that occurred.
template <size_t kCodes>
void AddCodes(std::string_view of, const std::array<int64_t, kCodes>& counts, Series series) {
  for (size_t code = 0; code < kCodes; ++code) {
    if (code > 0 && counts[code] == 0) continue;
    series.Add({of, absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}, counts[code]);
  }
}

}  // namespace

void AddCertificatesEnd(View view, Series series) {
  if (view.certificates_end.has_value())
    series.Add({}, absl::ToUnixSeconds(*view.certificates_end));
}

void AddRpcs(View view, Series series) {
  for (size_t i = 0; i < kNumMethods; ++i)
    AddCodes(MethodName(static_cast<Method>(i)), view.counts.methods[i].ended, series);
}

void AddRpcTimes(View view, Series series) {
  for (size_t i = 0; i < kNumMethods; ++i) {
    const ServerCounts::OfMethod& counts = view.counts.methods[i];
    series.AddTimes({MethodName(static_cast<Method>(i))}, counts.took,
                    absl::Nanoseconds(counts.took_ns));
  }
}

void AddErrors(View view, Series series) {
  for (size_t i = 0; i < kNumErrorReasons; ++i)
    series.Add({ErrorReasons()[i].name}, view.counts.errors[i]);
}

void AddBatchSizes(View view, Series series) {
  // No batch is larger than the last bound.
  std::array<int64_t, kNumBatchSizes + 1> sizes = {};
  std::copy(view.counts.batch_sizes.begin(), view.counts.batch_sizes.end(), sizes.begin());
  series.AddSizes(sizes, view.counts.batch_calls);
}

void AddCalls(View view, Series series) {
  for (const OperatorStatistics& each : view.engine.operators)
    AddCodes(each.op, each.ended, series);
}

void AddExecutions(View view, Series series) {
  for (const OperatorStatistics& each : view.engine.operators)
    series.AddTimes({each.op}, each.executed, each.execution);
}

void AddWaits(View view, Series series) {
  for (const OperatorStatistics& each : view.engine.operators)
    series.AddTimes({each.op}, each.queued, each.queue_wait);
}

void AddBegun(View view, Series series) {
  series.Add({"inline"}, view.engine.inline_calls);
  series.Add({"queued"}, view.engine.queued_calls);
}

void AddRefused(View view, Series series) {
  series.Add({"calls"}, view.engine.refused_calls);
  series.Add({"bytes"}, view.engine.refused_bytes);
  series.Add({"wait"}, view.engine.refused_wait);
  series.Add({"deadline"}, view.engine.refused_deadline);
}

void AddDropped(View view, Series series) {
  series.Add({"expired"}, view.engine.expired_calls);
  series.Add({"cancelled"}, view.engine.cancelled_calls);
}

void AddLeases(View view, Series series) {
  for (const DeviceView& each : view.devices) {
    series.Add({each.info.name, "pool"}, each.memory.hits);
    series.Add({each.info.name, "system"}, each.memory.misses);
  }
}

void AddLookups(View view, Series series) {
  series.Add({"hit"}, view.plans.hits);
  series.Add({"miss"}, view.plans.misses);
}

int64_t CommandsInFlight(View view) {
  return std::max<int64_t>(view.counts.session_commands_begun - view.counts.session_commands_ended,
                           0);
}

int64_t OpenSessions(View view) {
  return std::max<int64_t>(view.counts.sessions_opened - view.counts.sessions_closed, 0);
}

}  // namespace opserve::server::metric
