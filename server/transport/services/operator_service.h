// opserve.v1.OperatorService on an engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/impl/service_type.h>

#include "core/base/clock.h"
#include "server/transport/unary/engine_call.h"

namespace opserve::server {

struct OperatorServiceOptions {
  // Of all methods; bounds are told by GetServerInfo.
  ExecuteContext calls;
  // What GetServerInfo tells besides: of chunks, and the absolute path of the socket of shared
  // memory.
  int64_t recommended_chunk_bytes = 0;
  std::string shared_memory_socket;
  const Clock* clock = &Clock::Real();
};

// The service must outlive the server that it is registered with. Handlers never block: calls run
// on the engine, answers leave from whichever thread finishes them.
std::unique_ptr<grpc::Service> MakeOperatorService(const OperatorServiceOptions& options);

}  // namespace opserve::server
