// One unary call, however it came: counted, and told of, in one place.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/trace_context.h"
#include "server/counters/server_counters.h"
#include "server/tracing/call_observer.h"

namespace opserve::server {

// Who made a call: asked only where somebody wants to know.
class CallOrigin {
 public:
  virtual ~CallOrigin() = default;
  // As gRPC calls it: "ipv4:127.0.0.1:40000".
  virtual std::string peer() const = 0;
  // The trace that the client named.
  virtual std::optional<TraceContext> trace() const = 0;
};

// From when a call came to when the transport is done with it. What it is made with must outlive
// it.
class CallTally {
 public:
  CallTally(ServerCounters& counters, CallObserver& observer, Method method,
            const CallOrigin& origin, size_t request_bytes);
  ~CallTally();
  CallTally(const CallTally&) = delete;
  CallTally& operator=(const CallTally&) = delete;

  bool is_watched() const { return record_ != nullptr; }

  // What is learnt of a call on its way, each at most once; next to nothing where nobody watches.
  // It was read and planned: the engine has it. `op` lives forever; empty for a batch.
  void HandOver(std::string_view op);
  // The engine is done with it.
  void Ran(absl::Duration queued, absl::Duration executed);
  // Of a batch.
  void Held(size_t calls, size_t failed_calls);
  // Its status is known. Once.
  void Count(const absl::Status& status, size_t response_bytes);

 private:
  void Watch();
  void Report(const absl::Status& status, size_t response_bytes);
  // Of a call that ended at `now`, if it was traced.
  void KeepExemplars(absl::Time now);
  CallRecord MakeRecord() const;

  ServerCounters& counters_;
  CallObserver& observer_;
  const Method method_;
  const CallOrigin& origin_;
  const size_t request_bytes_;
  const absl::Time start_ = Clock::Real().Now();
  std::string_view op_;
  absl::Duration queued_;
  absl::Duration executed_;
  std::unique_ptr<CallRecord> record_;  // none where nobody watches
};

}  // namespace opserve::server
