// ModelStreamInfer of the Open Inference Protocol.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// What a stream may have under way: messages that run or whose answers were not taken, and bytes of
// such answers, above which the server stops reading.
inline constexpr size_t kMaxStreamMessages = 64;
inline constexpr size_t kMaxStreamAnswerBytes = size_t{16} << 20;

// Handles one stream: each message as ModelInfer has it, many at one time, answered in the order in
// which they came. A message that fails is answered with its error, and the stream goes on; with
// the metadata `triton_grpc_error: true` it ends with the first one's status. Ends when the client
// has half-closed and all is answered, or when it has left: then what runs is cancelled. Never
// blocks.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartInferStream(
    const ExecuteContext& with, grpc::CallbackServerContext& context);

}  // namespace opserve::server
