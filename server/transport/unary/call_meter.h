// A unary call's beginning and end: counted, its status made, and told of, in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/trace_context.h"
#include "core/engine/engine.h"
#include "server/counters/server_counters.h"
#include "server/tracing/call_observer.h"
#include "server/transport/unary/load_reports.h"

namespace opserve::server {

// Whom it is told to.
struct CallSinks {
  ServerCounters& counters;
  CallObserver& observer;
  const LoadReports& load_reports;
};

// From when a call came to when the transport is done with it. What it is made with must outlive
// it.
class CallMeter {
 public:
  CallMeter(const CallSinks& sinks, Method method, grpc::CallbackServerContext& context,
            size_t request_bytes);
  ~CallMeter();
  CallMeter(const CallMeter&) = delete;
  CallMeter& operator=(const CallMeter&) = delete;

  // Whether anybody wants to know more of it than counters do.
  bool is_watched() const { return record_ != nullptr || !sinks_.load_reports.is_off(); }

  // What is learnt of a call on its way, each at most once; next to nothing where nobody watches.
  // It was read and planned: the engine has it. `op` lives forever; empty for a batch.
  void HandOver(std::string_view op);
  // The engine is done with it.
  void Ran(const CallTimes& times) { times_ = times; }
  // Of a batch.
  void Held(size_t calls, size_t failed_calls);

  // The status to finish the call with. Once, before Finish: one that tells when to try again
  // (ErrorDetail::retry_after) is also said in the trailing metadata (grpc-retry-pushback-ms, which
  // gRPC's own clients heed).
  grpc::Status End(const absl::Status& status, size_t response_bytes);
  // Instead of End, for a call that has been finished.
  void Count(const absl::Status& status, size_t response_bytes);

  // Of a call that is watched, and that its client traces or the server does: for exemplars.
  std::optional<TraceContext> trace() const {
    return record_ == nullptr ? std::nullopt : record_->trace;
  }

 private:
  void Watch();
  void Report(const absl::Status& status, size_t response_bytes);

  const CallSinks sinks_;
  const Method method_;
  grpc::CallbackServerContext& context_;
  const size_t request_bytes_;
  const absl::Time start_ = Clock::Real().Now();
  CallTimes times_;
  std::unique_ptr<CallRecord> record_;  // none where nobody watches
};

}  // namespace opserve::server
