#include "server/http_side.h"

#include <utility>

#include "core/base/status_macros.h"
#include "server/open_addresses.h"

namespace opserve::server {
namespace {

InferenceApiOptions ApiOptions(const ServerConfig& config, const std::string& address) {
  InferenceApiOptions options{.max_connections = LimitsWithApi().max_connections,
                              .allowed_origin = config.http_allowed_origin,
                              .why_not = {}};
  if (!config.insecure && IsOpenAddress(address)) {
    options.why_not =
        "an address that this machine alone can reach, or --insecure: there is no TLS";
  }
  return options;
}

}  // namespace

absl::Status HttpSide::Listen(const ServerConfig& config) {
  if (config.http.empty()) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(Listening listening,
                           server::Listen(config.http, config.unix_socket_mode, "--http"));
  address_ = std::move(listening.address);
  listeners_ = std::move(listening.listeners);
  return absl::OkStatus();
}

absl::Status HttpSide::Serve(const ServerConfig& config, const ViewSources& sources,
                             const RestContext& calls, const std::vector<std::string>& addresses) {
  if (listeners_.empty()) return absl::OkStatus();
  if (config.clients.open_inference)
    inference_ = MakeInferenceApi(calls, ApiOptions(config, address_));
  OPSERVE_ASSIGN_OR_RETURN(
      port_, StartMonitor(std::move(listeners_), sources,
                          {.addresses = addresses, .flags = config.flags}, inference_.get()));
  return absl::OkStatus();
}

void HttpSide::SetNotReady() {
  if (inference_ != nullptr) inference_->SetNotReady();
}

void HttpSide::RefuseCalls() {
  if (inference_ != nullptr) inference_->RefuseCalls();
}

void HttpSide::End(absl::Duration drain) {
  if (port_ != nullptr && inference_ != nullptr) inference_->Drain(drain);
  port_.reset();
}

}  // namespace opserve::server
