// What balancers are told of the server's load: an xds.data.orca.v3.OrcaLoadReport in the trailing
// metadata of a call.
#pragma once

#include <string>

#include <grpcpp/server_context.h>

#include "core/engine/engine.h"
#include "server/counters/load_gauge.h"

namespace opserve::server {

inline constexpr char kLoadReportKey[] = "endpoint-load-metrics-bin";
// Among a call's metadata, whatever its value: asks for it where LoadReportPolicy is kAsked.
inline constexpr char kLoadReportAsked[] = "opserve-load-report";

// The report, serialized: levels of the server; `times` of the call that it goes with.
std::string EncodeLoadReport(const LoadLevels& levels, const CallTimes& times);

// Thread-safe. The gauge must outlive it.
class LoadReports {
 public:
  LoadReports(LoadReportPolicy policy, const LoadGauge& gauge) : policy_(policy), gauge_(gauge) {}

  bool is_off() const { return policy_ == LoadReportPolicy::kOff; }
  // Before the call is finished.
  void Add(const CallTimes& times, grpc::CallbackServerContext& context) const;

 private:
  const LoadReportPolicy policy_;
  const LoadGauge& gauge_;
};

}  // namespace opserve::server
