// What gRPC is told of connections and messages.
#pragma once

#include <cstdint>

#include <grpcpp/server_builder.h>

#include "server/connections/connection_config.h"

namespace opserve::server {

// Ages, keepalives, streams, and the soft bound on gRPC's buffers.
void SetUpConnections(const ConnectionConfig& config, grpc::ServerBuilder& builder);

// gRPC inflates messages without a bound: what is compressed is refused by it (0), or inflated by
// us.
void SetUpCompression(int64_t max_inflated_bytes, grpc::ServerBuilder& builder);

}  // namespace opserve::server
