// gRPC's server reflection (grpc.reflection.v1, and v1alpha for older clients). gRPC has one of its
// own, which makes a thread for every stream, reads requests of any size and remembers every name
// it was asked for in vain.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <grpcpp/impl/service_type.h>

#include "server/transport/unary/gate.h"

namespace opserve::server {

// A service each version: tells of `services`, health checks and reflection, of all files that
// these import, and of the details of errors. Streams
// are answered as they come, from files that were encoded once. A request above kMaxControlBytes
// ends its stream; `max_inflated_bytes` as OperatorServiceOptions'.
// Asks `gate`, which must outlive them, for Role::kDiscover.
std::vector<std::unique_ptr<grpc::Service>> MakeReflectionServices(
    std::span<const std::string_view> services, int64_t max_inflated_bytes, const Gate& gate);

}  // namespace opserve::server
