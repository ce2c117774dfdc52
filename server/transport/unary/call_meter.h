// A unary call's beginning and end: counted, its status made, and told of, in one place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "core/base/trace_context.h"
#include "core/engine/engine.h"
#include "server/counters/server_counters.h"
#include "server/tracing/call_observer.h"
#include "server/tracing/call_tally.h"
#include "server/transport/unary/load_reports.h"

namespace opserve::server {

// Whom it is told to.
struct CallSinks {
  ServerCounters& counters;
  CallObserver& observer;
  const LoadReports& load_reports;
};

// As CallTally, of a call by gRPC. What it is made with must outlive it.
class CallMeter final : private CallOrigin {
 public:
  CallMeter(const CallSinks& sinks, Method method, grpc::CallbackServerContext& context,
            size_t request_bytes);

  // Whether anybody wants to know more of it than counters do.
  bool is_watched() const { return tally_.is_watched() || !load_reports_.is_off(); }

  // What CallTally's are.
  void HandOver(std::string_view op) { tally_.HandOver(op); }
  void Ran(const CallTimes& times);
  void Held(size_t calls, size_t failed_calls) { tally_.Held(calls, failed_calls); }

  // The status to finish the call with. Once, before Finish: one that tells when to try again
  // (ErrorDetail::retry_after) is also said in the trailing metadata (grpc-retry-pushback-ms, which
  // gRPC's own clients heed).
  grpc::Status End(const absl::Status& status, size_t response_bytes);
  // Instead of End, for a call that has been finished.
  void Count(const absl::Status& status, size_t response_bytes) {
    tally_.Count(status, response_bytes);
  }

 private:
  std::string peer() const override;
  std::optional<TraceContext> trace() const override;

  const LoadReports& load_reports_;
  grpc::CallbackServerContext& context_;
  CallTimes times_;
  CallTally tally_;
};

}  // namespace opserve::server
