// opserve.v1.OperatorService on an engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <grpcpp/impl/service_type.h>

#include "core/engine/engine.h"

namespace opserve::server {

struct OperatorServiceOptions {
  // Largest message in either direction; told by GetServerInfo. An answer that would be larger is
  // refused before the call runs.
  int64_t max_message_bytes = 0;
  // Counts the Execute calls that are not over yet. Must outlive the service.
  std::atomic<int64_t>* executing = nullptr;
};

// `engine` must outlive the service, and the service the server that it is registered with.
// Handlers never block: calls run on the engine, answers leave from whichever thread finishes them.
std::unique_ptr<grpc::Service> MakeOperatorService(Engine& engine,
                                                   const OperatorServiceOptions& options);

}  // namespace opserve::server
