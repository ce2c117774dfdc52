// Unary calls whose request message never came.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "server/counters/server_counters.h"
#include "server/transport/unary/call_meter.h"

namespace opserve::server {

// Handles a call whose request is not ByteBuffer::Valid(): gRPC begins it all the same, as one of
// an empty request. Its client went away or its deadline passed before the message was whole, and
// so it is counted (CANCELLED, DEADLINE_EXCEEDED); a client that is still there ended its request
// without a message, which is 161001 (`message`). The sinks must outlive it.
grpc::ServerUnaryReactor* RefuseMissingMessage(const CallSinks& sinks, Method method,
                                               grpc::CallbackServerContext& context);

}  // namespace opserve::server
