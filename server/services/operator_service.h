// opserve.v1.OperatorService on an engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/impl/service_type.h>

#include "core/base/clock.h"
#include "core/engine/engine.h"
#include "server/connections/connection_table.h"
#include "server/counters/server_counters.h"
#include "server/plans/plan_cache.h"
#include "server/services/answer_watch.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

struct OperatorServiceOptions {
  // Largest message in either direction; told by GetServerInfo. An answer that would be larger is
  // refused before the call runs.
  int64_t max_message_bytes = 0;
  // What a compressed request may inflate to; 0: such are refused before they come here.
  int64_t max_inflated_bytes = 0;
  // Counts the calls of Execute and ExecuteBatch that are not over yet. Must outlive the service,
  // as must the others.
  std::atomic<int64_t>* executing = nullptr;
  PlanCache* plans = nullptr;
  ServerCounters* counters = nullptr;
  const ConnectionTable* connections = nullptr;
  AnswerWatch* answers = nullptr;
  HostMemory* host_memory = nullptr;
  // nullptr where shared memory is not allowed.
  const RegionTable* regions = nullptr;
  // Absolute path of its socket; told by GetServerInfo.
  std::string shared_memory_socket;
  const Clock* clock = &Clock::Real();
};

// `engine` must outlive the service, and the service the server that it is registered with.
// Handlers never block: calls run on the engine, answers leave from whichever thread finishes them.
std::unique_ptr<grpc::Service> MakeOperatorService(Engine& engine,
                                                   const OperatorServiceOptions& options);

}  // namespace opserve::server
