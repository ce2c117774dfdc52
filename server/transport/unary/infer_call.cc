#include "server/transport/unary/infer_call.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "server/calls/infer_plan.h"
#include "server/open_inference/infer_request.h"
#include "server/transport/unary/one_shot_call.h"

namespace opserve::server {
namespace {

using inference::ModelInferRequest;

class InferCall final : public OneShotCall {
 public:
  using OneShotCall::OneShotCall;

 private:
  absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan(SplitMessage& message) override {
    OPSERVE_ASSIGN_OR_RETURN(InferHeader header, SplitInferHeader(message.header));
    id_ = std::move(header.id);
    return FindInferPlan(with().engine, with().plans, header.call, message.raw);
  }

  size_t MaxResponseBytes(const PlannedCall& planned) const override {
    return planned.infer_form().max_response_bytes(id_.size());
  }

  absl::Time LatestEnd(const PlannedCall& planned) const override {
    return came_ + planned.infer_form().timeout();
  }

  WrittenMessage Write(const PlannedCall& planned, Outputs outputs,
                       const CallTimes& /*times*/) const override {
    return planned.infer_form().Write(id_, std::move(outputs));
  }

  const absl::Time came_ = with().engine.clock().Now();
  std::string id_;
};

}  // namespace

grpc::ServerUnaryReactor* StartInfer(const ExecuteContext& with,
                                     grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
  auto* call =
      new InferCall(with, Method::kModelInfer, ModelInferRequest::kRawInputContentsFieldNumber,
                    context, request.Length(), response);
  call->StartReading(request);
  return call;
}

}  // namespace opserve::server
