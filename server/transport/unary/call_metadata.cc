#include "server/transport/unary/call_metadata.h"

#include <iterator>

namespace opserve::server {
namespace {

constexpr char kTraceParent[] = "traceparent";

}  // namespace

std::optional<TraceContext> TraceOf(const grpc::CallbackServerContext& context) {
  const auto [first, last] = context.client_metadata().equal_range(kTraceParent);
  if (first == last || std::next(first) != last) return std::nullopt;
  return ParseTraceParent({first->second.data(), first->second.size()});
}

CallRecord RecordOf(std::string_view method, const grpc::CallbackServerContext& context) {
  CallRecord record;
  record.method = method;
  record.peer = Shortened(context.peer());
  record.trace = TraceOf(context);
  return record;
}

}  // namespace opserve::server
