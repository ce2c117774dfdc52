#include "server/transport/unary/execute_batch_call.h"

#include <utility>

#include "core/base/status_macros.h"
#include "server/calls/batch_run.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/deadline.h"

namespace opserve::server {
namespace {

// Batches that take less are not charged.
constexpr size_t kChargedBytes = size_t{256} << 10;

class ExecuteBatchCall final : public EngineCall {
 public:
  ExecuteBatchCall(const ExecuteContext& with, grpc::CallbackServerContext& context,
                   size_t request_bytes, grpc::ByteBuffer& response)
      : EngineCall(with, Method::kExecuteBatch, context, request_bytes, response),
        run_(with.engine, with.counters, with.regions, DeadlineOf(context, with.engine.clock())) {}

 private:
  absl::Status Begin(const grpc::ByteBuffer& request) override {
    OPSERVE_ASSIGN_OR_RETURN(
        SplitMessage message,
        ReadSplitMessage(request, v1::ExecuteBatchRequest::kRawFieldNumber, kMaxBatchRawEntries));
    OPSERVE_RETURN_IF_ERROR(run_.Read({std::move(message.header), std::move(message.raw)},
                                      KeepSlices(std::move(message.slices)),
                                      with().max_message_bytes));
    OPSERVE_RETURN_IF_ERROR(Charge());
    meter().HandOver({});
    run_.Run(client(), [this](absl::StatusOr<WrittenMessage> answer) {
      charge().Clear();
      if (meter().is_watched()) {
        meter().Ran(run_.times());
        meter().Held(run_.calls(), run_.failed_calls());
      }
      if (!answer.ok()) return Refuse(answer.status());
      Answer(*std::move(answer), Memory::kOfHost);
    });
    return absl::OkStatus();
  }

  // What the calls take until they are answered.
  absl::Status Charge() {
    const size_t bytes = run_.host_bytes();
    if (bytes < kChargedBytes) return absl::OkStatus();
    return charge().Add(client(), static_cast<int64_t>(bytes), "message");
  }

  void OnCancel() override { run_.Cancel(); }

  BatchRun run_;
};

}  // namespace

grpc::ServerUnaryReactor* StartExecuteBatch(const ExecuteContext& with,
                                            grpc::CallbackServerContext& context,
                                            const grpc::ByteBuffer& request,
                                            grpc::ByteBuffer& response) {
  auto* call = new ExecuteBatchCall(with, context, request.Length(), response);
  call->Start(request, v1::ExecuteBatchRequest::kRawFieldNumber, kMaxBatchRawEntries);
  return call;
}

}  // namespace opserve::server
