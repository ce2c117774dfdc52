#include "server/transport/unary/infer_call.h"

#include <memory>
#include <utility>

#include "core/base/status_macros.h"
#include "server/calls/infer_plan.h"
#include "server/calls/infer_regions.h"
#include "server/open_inference/infer_request.h"
#include "server/transport/unary/local_user.h"
#include "server/transport/unary/one_shot_call.h"

namespace opserve::server {
namespace {

using inference::ModelInferRequest;

class InferCall final : public OneShotCall {
 public:
  using OneShotCall::OneShotCall;

 private:
  absl::StatusOr<size_t> BytesElsewhere(SplitMessage& message) override {
    OPSERVE_ASSIGN_OR_RETURN(header_, SplitInferHeader(message.header));
    OPSERVE_RETURN_IF_ERROR(shared_.Find(
        with().named_regions, [this] { return LocalUserOf(with().connections, caller()); },
        header_.call));
    return shared_.input_bytes();
  }

  absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan(SplitMessage& message) override {
    OPSERVE_RETURN_IF_ERROR(shared_.ReadInputs(*with().host_memory.staging(), message.raw));
    return FindInferPlan(with().engine, with().plans, header_.call, message.raw);
  }

  size_t MaxResponseBytes(const PlannedCall& planned) const override {
    return planned.infer_form().max_response_bytes(header_.id.size()) -
           shared_.OutputBytes(planned);
  }

  absl::StatusOr<absl::Duration> CheckElsewhere(const PlannedCall& planned) const override {
    OPSERVE_RETURN_IF_ERROR(shared_.CheckOutputs(planned));
    return shared_.WriteTime(planned);
  }

  absl::Status WriteElsewhere(const PlannedCall& planned, Outputs& outputs) override {
    return shared_.WriteOutputs(planned, outputs);
  }

  void ClearElsewhere() override { shared_.Clear(); }

  absl::Time LatestEnd(const PlannedCall& planned) const override {
    return came_ + planned.infer_form().timeout();
  }

  WrittenMessage Write(const PlannedCall& planned, Outputs outputs,
                       const CallTimes& /*times*/) const override {
    return planned.infer_form().Write(header_.id, std::move(outputs));
  }

  const absl::Time came_ = with().engine.clock().Now();
  InferHeader header_;
  InferRegions shared_;
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
