// inference.GRPCInferenceService: the Open Inference Protocol, on the calls of OperatorService.
#pragma once

#include <memory>

#include <grpcpp/impl/service_type.h>

#include "server/transport/unary/engine_call.h"

namespace opserve::server {

inline constexpr char kInferenceService[] = "inference.GRPCInferenceService";

class InferenceService {
 public:
  virtual ~InferenceService() = default;

  // To be registered; the server must be over before this is destroyed.
  virtual grpc::Service& service() = 0;

  // From now on ServerReady says no. Any thread.
  virtual void SetDraining() = 0;
};

// Bounds are those of OperatorService.
std::unique_ptr<InferenceService> MakeInferenceService(const ExecuteContext& calls);

}  // namespace opserve::server
