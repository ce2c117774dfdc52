// Execute.
#pragma once

#include <atomic>
#include <cstdint>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "core/engine/engine.h"
#include "server/counters/server_counters.h"
#include "server/plans/plan_cache.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

// What calls that run on the engine need. All of it must outlive them.
struct ExecuteContext {
  Engine& engine;
  ServerCounters& counters;
  std::atomic<int64_t>& executing;  // counts the calls that are not over yet
  PlanCache& plans;
  int64_t max_message_bytes;
  const RegionTable* regions;  // nullptr where shared memory is not allowed
};

// Handles one Execute: an ExecuteRequest in, an ExecuteResponse out. Never blocks.
grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

}  // namespace opserve::server
