#include "server/transport/unary/load_reports.h"

#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace opserve::server {

std::string EncodeLoadReport(const LoadLevels& levels, const CallTimes& times) {
  xds::data::orca::v3::OrcaLoadReport report;
  report.set_cpu_utilization(levels.cpu_utilization);
  report.set_rps_fractional(levels.calls_per_second);
  report.set_eps(levels.failed_calls_per_second);
  (*report.mutable_named_metrics())["queue_wait_seconds"] =
      absl::ToDoubleSeconds(levels.queue_wait);
  auto& cost = *report.mutable_request_cost();
  cost["queued_seconds"] = absl::ToDoubleSeconds(times.queued);
  cost["executed_seconds"] = absl::ToDoubleSeconds(times.executed);
  return report.SerializeAsString();
}

void LoadReports::Add(const CallTimes& times, grpc::CallbackServerContext& context) const {
  if (policy_ == LoadReportPolicy::kOff) return;
  if (policy_ == LoadReportPolicy::kAsked &&
      context.client_metadata().count(kLoadReportAsked) == 0) {
    return;
  }
  context.AddTrailingMetadata(kLoadReportKey, EncodeLoadReport(gauge_.levels(), times));
}

}  // namespace opserve::server
