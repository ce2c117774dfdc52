// Execute.
#pragma once

#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// Handles one Execute: an ExecuteRequest in, an ExecuteResponse out. Never blocks.
grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

}  // namespace opserve::server
