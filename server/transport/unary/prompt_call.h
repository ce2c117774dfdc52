// Calls that are answered in one go, from what the server knows.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// Makes the answer of a request that is not compressed, to who was let in. Does not block.
using PromptAnswer = absl::AnyInvocable<absl::Status(
    const Caller& caller, const grpc::ByteBuffer& request, grpc::ByteBuffer& response)>;

// Handles one call: let in by `role`, metered, its bytes bounded, what is long read on a worker,
// refused without a message. `with` must outlive it.
grpc::ServerUnaryReactor* StartPromptCall(const ExecuteContext& with, Method method, Role role,
                                          grpc::CallbackServerContext& context,
                                          const grpc::ByteBuffer& request,
                                          grpc::ByteBuffer& response, PromptAnswer answer);

}  // namespace opserve::server
