// ModelInfer of the Open Inference Protocol.
#pragma once

#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// Handles one ModelInfer: a ModelInferRequest in, a ModelInferResponse out. Never blocks.
grpc::ServerUnaryReactor* StartInfer(const ExecuteContext& with,
                                     grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

}  // namespace opserve::server
