#include "server/transport/unary/execute_call.h"

#include <memory>
#include <utility>

#include "core/base/status_macros.h"
#include "server/codec/message_scanner.h"
#include "server/codec/output_codec.h"
#include "server/transport/unary/one_shot_call.h"

namespace opserve::server {
namespace {

class ExecuteCall final : public OneShotCall {
 public:
  using OneShotCall::OneShotCall;

 private:
  absl::StatusOr<std::shared_ptr<const PlannedCall>> FindPlan(SplitMessage& message) override {
    const size_t entries = message.raw.size();
    std::shared_ptr<const PlannedCall> known = with().plans.Find(message.header, entries);
    if (known != nullptr) return known;
    v1::ExecuteRequest request;
    OPSERVE_RETURN_IF_ERROR(ParseHeader(message.header, request));
    OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                             DecodeEncoding(request.output_encoding()));
    OPSERVE_ASSIGN_OR_RETURN(
        std::shared_ptr<const PlannedCall> planned,
        PlannedCall::Make(with().engine, request.call(), message.raw, encoding));
    with().plans.Put(std::move(message.header), entries, planned);
    return planned;
  }

  size_t MaxResponseBytes(const PlannedCall& planned) const override {
    return planned.form().max_response_bytes();
  }

  WrittenMessage Write(const PlannedCall& planned, Outputs outputs,
                       const CallTimes& times) const override {
    return WriteExecuteResponse(planned.form(), std::move(outputs), times);
  }
};

}  // namespace

grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer& response) {
  auto* call = new ExecuteCall(with, Method::kExecute, v1::ExecuteRequest::kRawFieldNumber, context,
                               request.Length(), response);
  call->StartReading(request);
  return call;
}

}  // namespace opserve::server
