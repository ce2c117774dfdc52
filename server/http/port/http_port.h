// A small HTTP/1.1 server beside gRPC, for people and for what watches the server: one thread, few
// connections, and bounds on all that a client can make it do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "server/connections/listener.h"
#include "server/http/port/http_messages.h"

namespace opserve::server {

// What is answered at a path, to GET and HEAD. `answer` is called on the port's thread: it neither
// blocks nor takes long, as every other client waits meanwhile.
struct HttpRoute {
  enum class Weight : uint8_t {
    kLight,  // always answered: a probe
    kHeavy,  // so many a second for each client, then 429
  };
  std::string_view path;
  Weight weight = Weight::kHeavy;
  std::function<HttpResponse(const HttpRequest& request)> answer;
};

struct HttpLimits {
  size_t max_connections = 32;
  // Memory for each, in which its request's line and headers must find room (then 431).
  size_t connection_bytes = size_t{16} << 10;
  // How long a connection may go without a whole request that was answered and taken, besides a
  // second for each MiB that a body has.
  absl::Duration request_time = absl::Seconds(10);
  // How much longer after a request that was answered and taken.
  absl::Duration idle_time;
  double heavy_per_second = 10;  // of each client
  double heavy_burst = 30;
  // Of one core, for all that the port does but work (HttpBody::IsWork); and how much of it at
  // once, after a rest.
  double core_share = 0.1;
  absl::Duration core_burst = absl::Seconds(1);
};

class HttpPort {
 public:
  // Called on the port's thread about once a second, also when nobody asks for anything.
  using Tick = std::function<void()>;

  // Serves `routes`, and before them `api` where it is not nullptr, until it is destroyed; then
  // requests that wait for their answers are cancelled, and it waits for these. When all
  // `listeners` are on loopback addresses, requests for other names than this machine's are refused
  // (421). Errors: the system has no descriptor or memory for it. Throws ThreadError.
  static absl::StatusOr<std::unique_ptr<HttpPort>> Start(std::vector<Listener> listeners,
                                                         std::vector<HttpRoute> routes, Tick tick,
                                                         const HttpLimits& limits = {},
                                                         HttpApi* api = nullptr,
                                                         const Clock& clock = Clock::Real());
  virtual ~HttpPort() = default;
};

}  // namespace opserve::server
