// grpc.health.v1.Health. gRPC has one of its own, which reads requests of any size.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <grpcpp/impl/service_type.h>

namespace opserve::server {

class HealthService {
 public:
  virtual ~HealthService() = default;

  // To be registered; the server must be over before this is destroyed.
  virtual grpc::Service& service() = 0;

  // Clients that watch are told at once. May be called on any thread.
  virtual void SetServing(bool serving) = 0;
};

// Speaks for the server as a whole ("") and each of `services`, which serve together or not at all:
// not, to begin with. Refuses requests above kMaxControlBytes; `max_inflated_bytes` as
// OperatorServiceOptions'.
std::unique_ptr<HealthService> MakeHealthService(std::span<const std::string_view> services,
                                                 int64_t max_inflated_bytes);

}  // namespace opserve::server
