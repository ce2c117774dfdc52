// opserve.v1.SessionService on an engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <grpcpp/impl/service_type.h>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/engine/engine.h"
#include "server/calls/plan_cache.h"
#include "server/connections/connection_table.h"
#include "server/counters/server_counters.h"
#include "server/session/host_memory.h"
#include "server/session/open_streams.h"
#include "server/session/session_limits.h"
#include "server/tracing/call_observer.h"
#include "server/transport/unary/gate.h"

namespace opserve::server {

struct SessionServiceOptions {
  SessionLimits limits;
  int64_t max_sessions = 0;
  // What one client may have of them; see SharedLimit.
  double client_share = 1;
  // What a compressed message may inflate to; 0: such are refused before they come here.
  int64_t max_inflated_bytes = 0;
  // Counts the sessions that have something under way. Must outlive the service.
  std::atomic<int64_t>* executing = nullptr;
  // Counts the threads of the network that sessions' commands keep. Must outlive the service, too.
  std::atomic<int64_t>* kept_threads = nullptr;
  // These must outlive the service, too.
  PlanCache* plans = nullptr;
  OpenStreams* open_streams = nullptr;
  ServerCounters* counters = nullptr;
  CallObserver* observer = nullptr;
  ConnectionTable* connections = nullptr;
  const Gate* gate = nullptr;
  std::shared_ptr<HostMemory> host_memory;
  const Clock* clock = &Clock::Real();
};

class SessionServer {
 public:
  virtual ~SessionServer() = default;
  virtual grpc::Service& service() = 0;
  // Refuses new sessions, tells those there are, and ends each with UNAVAILABLE once nothing is
  // under way on it.
  virtual void Drain() = 0;
  virtual int64_t num_sessions() const = 0;
};

// `engine` must outlive it, and it the server that its service is registered with. Handlers never
// block.
std::unique_ptr<SessionServer> MakeSessionServer(Engine& engine,
                                                 const SessionServiceOptions& options);

}  // namespace opserve::server
