// ExecuteBatch.
#pragma once

#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// Handles one ExecuteBatch. A few small calls run before this returns, many of them and large ones
// on workers; the answer leaves when all are over. Never blocks.
grpc::ServerUnaryReactor* StartExecuteBatch(const ExecuteContext& with,
                                            grpc::CallbackServerContext& context,
                                            const grpc::ByteBuffer& request,
                                            grpc::ByteBuffer& response);

}  // namespace opserve::server
