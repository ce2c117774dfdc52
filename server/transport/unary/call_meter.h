// A unary call's beginning and end: counted, and its status made, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "server/counters/server_counters.h"

namespace opserve::server {

// From when a call came to its end. The counters and the context must outlive it.
class CallMeter {
 public:
  CallMeter(ServerCounters& counters, Method method, grpc::CallbackServerContext& context,
            size_t request_bytes);

  // The status to finish the call with. Once, before Finish: one that tells when to try again
  // (ErrorDetail::retry_after) is also said in the trailing metadata (grpc-retry-pushback-ms, which
  // gRPC's own clients heed).
  grpc::Status End(const absl::Status& status, size_t response_bytes);
  // Instead of End, for a call that has been finished.
  void Count(const absl::Status& status, size_t response_bytes);

 private:
  ServerCounters& counters_;
  const Method method_;
  grpc::CallbackServerContext& context_;
  const size_t request_bytes_;
};

}  // namespace opserve::server
