// What the server answers by HTTP: its port, and the calls that come by it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/flags/config.h"
#include "server/http/inference/inference_api.h"
#include "server/http/monitor.h"

namespace opserve::server {

class HttpSide {
 public:
  // Binds the address that `config` names, if it names one.
  absl::Status Listen(const ServerConfig& config);

  // Serves on it. What `sources` and `calls` have must outlive this. Once.
  absl::Status Serve(const ServerConfig& config, const ViewSources& sources,
                     const RestContext& calls, const std::vector<std::string>& addresses);

  // With the port that was taken; empty where none was wanted.
  const std::string& address() const { return address_; }

  // From now on health says that the server is not ready.
  void SetNotReady();
  // From now on calls are refused.
  void RefuseCalls();
  // Waits until those that run are over, for `drain` at most, cancels what is left, and ends.
  void End(absl::Duration drain);

 private:
  std::string address_;
  std::vector<Listener> listeners_;
  std::unique_ptr<InferenceApi> inference_;  // none where it is not wanted
  std::unique_ptr<HttpPort> port_;           // likewise
};

}  // namespace opserve::server
