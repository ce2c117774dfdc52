#include "server/services/execute_call.h"

#include <memory>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>

#include "core/base/status_macros.h"
#include "server/services/call_meter.h"
#include "server/wire/call_codec.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/shared_codec.h"

namespace opserve::server {
namespace {

// One Execute. Owned by gRPC: lives until OnDone, which follows Finish, which follows the engine's
// `done`.
class ExecuteCall final : public grpc::ServerUnaryReactor {
 public:
  ExecuteCall(const ExecuteContext& with, grpc::CallbackServerContext& context,
              size_t request_bytes, grpc::ByteBuffer& response)
      : with_(with),
        context_(context),
        response_(response),
        meter_(with.counters, Method::kExecute, context, request_bytes) {
    ++with_.executing;
  }
  ~ExecuteCall() override { --with_.executing; }

  void Start(const grpc::ByteBuffer& request) {
    absl::StatusOr<OneShot> shot = Prepare(request);
    if (!shot.ok()) return Finish(meter_.End(shot.status(), 0));
    with_.engine.Submit(*std::move(shot));
  }

 private:
  void OnDone() override { delete this; }

  absl::StatusOr<OneShot> Prepare(const grpc::ByteBuffer& request) {
    OPSERVE_ASSIGN_OR_RETURN(request_, ReadExecuteRequest(request));
    const v1::Call& call = request_.header.call();
    OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                             DecodeEncoding(request_.header.output_encoding()));
    OPSERVE_ASSIGN_OR_RETURN(const NamedCall named, DecodeSharingCall(call, request_.raw));
    OneShot shot;
    OPSERVE_ASSIGN_OR_RETURN(shot.plan, with_.engine.MakePlan(named));
    OPSERVE_ASSIGN_OR_RETURN(CallStorages storages, DecodeStorages(call, std::move(request_.raw)));
    values_ = std::move(storages.values);
    shot.storages = std::move(storages.fragments);
    OPSERVE_RETURN_IF_ERROR(TakeShared(call, shot));
    // First, so that a shape without bytes behind it is what it is, not a large answer.
    OPSERVE_RETURN_IF_ERROR(CheckStorages(shot.plan, shot.storages, shot.output_storages));
    OPSERVE_RETURN_IF_ERROR(PrepareAnswer(shot.plan.call, encoding));
    shot.deadline = absl::FromChrono(context_.deadline());
    shot.cancelled = [this] { return context_.IsCancelled(); };
    shot.done = [this](absl::StatusOr<Outputs> outputs) { Answer(std::move(outputs)); };
    return shot;
  }

  absl::Status TakeShared(const v1::Call& call, OneShot& shot) {
    OPSERVE_ASSIGN_OR_RETURN(SharedStorages shared, DecodeSharedStorages(call, with_.regions));
    AddSharedStorages(shared, shot);
    regions_ = std::move(shared.regions);
    return absl::OkStatus();
  }

  absl::Status PrepareAnswer(const OpCall& call, v1::TensorEncoding encoding) {
    EncodeOutputs(call, *answer_.mutable_outputs());
    EncodeSharedOutputs(request_.header.call(), call, *answer_.mutable_outputs());
    encoder_ = OutputEncoder(call, encoding, *answer_.mutable_outputs());
    const size_t bytes =
        ExecuteResponseBytes(answer_, encoder_.raw_sizes()) + encoder_.values_bytes();
    return CheckAnswerSize(call, bytes, with_.max_message_bytes);
  }

  void Answer(absl::StatusOr<Outputs> outputs) {
    // The engine is done with them; the answer may take long to leave.
    request_.slices.clear();
    regions_.clear();
    if (!outputs.ok()) return Finish(meter_.End(outputs.status(), 0));
    response_ = WriteExecuteResponse(
        answer_, encoder_.Fill(*std::move(outputs), *answer_.mutable_outputs()));
    Finish(meter_.End(absl::OkStatus(), response_.Length()));
  }

  const ExecuteContext with_;
  const grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallMeter meter_;
  RawExecuteRequest request_;
  std::vector<std::vector<std::byte>> values_;
  std::vector<std::shared_ptr<const SharedRegion>> regions_;
  v1::ExecuteResponse answer_;
  OutputEncoder encoder_;
};

}  // namespace

grpc::ServerUnaryReactor* StartExecute(const ExecuteContext& with,
                                       grpc::CallbackServerContext& context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer& response) {
  auto* call = new ExecuteCall(with, context, request.Length(), response);
  call->Start(request);
  return call;
}

}  // namespace opserve::server
