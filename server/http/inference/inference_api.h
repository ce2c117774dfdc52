// The Open Inference Protocol on the HTTP port.
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/http/inference/rest_exchange.h"
#include "server/http/port/http_messages.h"

namespace opserve::server {

struct InferenceApiOptions {
  // Connections of the port. A quarter of them stays free of calls that run, for probes.
  size_t max_connections = 0;
  // Web pages of that origin ("https://example.org"), or "*" for all, may call; else none but the
  // port's own.
  std::string allowed_origin;
  // Why nothing is served; empty where it is.
  std::string why_not;
};

class InferenceApi : public HttpApi {
 public:
  // From now on health says that the server is not ready. Any thread.
  virtual void SetNotReady() = 0;
  // From now on calls are refused.
  virtual void RefuseCalls() = 0;
  // Waits for the calls that run, at most for so long, and cancels those that are left.
  virtual void Drain(absl::Duration most) = 0;
};

// What `context` has must outlive it.
std::unique_ptr<InferenceApi> MakeInferenceApi(const RestContext& context,
                                               InferenceApiOptions options);

}  // namespace opserve::server
