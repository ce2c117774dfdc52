// What a server tells about itself by HTTP: probes, metrics, a page.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/connections/listener.h"
#include "server/http/port/http_port.h"
#include "server/http/views/page.h"
#include "server/http/views/server_view.h"

namespace opserve::server {

// Answers
//   /livez   200 while the process answers
//   /readyz  200 when the server is to be sent calls; otherwise 503 and why not, a reason a line
//   /metrics docs/metrics.md
//   /        the page for people; it loads itself anew every few seconds, unless with ?refresh=0
//   /playground, /playground.js
//            operators to play with: see Playground
// until the port is destroyed; `sources` must outlive it, and `api`, which answers besides where it
// is not nullptr, and with LimitsWithApi. HttpPort::Start's errors.
absl::StatusOr<std::unique_ptr<HttpPort>> StartMonitor(std::vector<Listener> listeners,
                                                       const ViewSources& sources, PageOptions page,
                                                       HttpApi* api = nullptr);
// Of a port that has an API: more connections, which may rest longer.
HttpLimits LimitsWithApi();

}  // namespace opserve::server
