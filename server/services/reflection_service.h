// gRPC's server reflection (grpc.reflection.v1alpha). gRPC has one of its own, which makes a thread
// for every stream, reads requests of any size and remembers every name it was asked for in vain.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <grpcpp/impl/service_type.h>

namespace opserve::server {

// Tells of `services`, health checks and reflection, and of all files that these import. Streams
// are answered as they come, from files that were encoded once. A request above kMaxControlBytes
// ends its stream; `max_inflated_bytes` as OperatorServiceOptions'.
std::unique_ptr<grpc::Service> MakeReflectionService(std::span<const std::string_view> services,
                                                     int64_t max_inflated_bytes);

}  // namespace opserve::server
