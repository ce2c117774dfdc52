// What a call's metadata and connection say of who calls.
#pragma once

#include <optional>
#include <string_view>

#include <grpcpp/server_context.h>

#include "core/base/trace_context.h"
#include "server/tracing/call_record.h"

namespace opserve::server {

// Of the `traceparent` of a call that has exactly one, and that is one.
std::optional<TraceContext> TraceOf(const grpc::CallbackServerContext& context);

// What can be told of a call before it is read. `method` lives forever.
CallRecord RecordOf(std::string_view method, const grpc::CallbackServerContext& context);

}  // namespace opserve::server
