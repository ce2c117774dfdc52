// Execute.
#pragma once

#include <atomic>
#include <cstdint>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "core/engine/engine.h"
#include "server/connections/connection_table.h"
#include "server/counters/server_counters.h"
#include "server/plans/plan_cache.h"
#include "server/services/answer_watch.h"
#include "server/session/host_memory.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

// What calls that run on the engine need. All of it must outlive them.
struct ExecuteContext {
  Engine& engine;
  ServerCounters& counters;
  std::atomic<int64_t>& executing;  // counts the calls that are not over yet
  PlanCache& plans;
  const ConnectionTable& connections;
  AnswerWatch& answers;
  HostMemory& host_memory;
  int64_t max_message_bytes;
  int64_t max_inflated_bytes;
  const RegionTable* regions;  // nullptr where shared memory is not allowed
};

// What a call does with a request that waited for a worker: OK, or why it is not to be read.
using Reading = absl::AnyInvocable<void(const absl::Status&)>;

// Calls `read` on a worker, in the client's turn, and charges the request's bytes until `charge`
// ends. With CANCELLED when the client has left meanwhile; here and now with RESOURCE_EXHAUSTED
// when there is no memory for it.
void ReadOnWorker(const ExecuteContext& with, const grpc::CallbackServerContext& context,
                  size_t request_bytes, HostCharge& charge, Reading read);

// Handles one Execute: an ExecuteRequest in, an ExecuteResponse out. Never blocks.
grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

}  // namespace opserve::server
