#include "server/services/operator_service.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "core/tensor/shape.h"
#include "opserve/v1/operator_service.grpc.pb.h"
#include "server/wire/call_codec.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/schema_codec.h"
#include "server/wire/status.h"

namespace opserve::server {
namespace {

// Where large streams were fastest (256 KiB to 4 MiB).
constexpr int64_t kRecommendedChunkBytes = 1 << 20;

// One Execute. Owned by gRPC: lives until OnDone, which follows Finish, which follows the engine's
// `done`.
class ExecuteCall final : public grpc::ServerUnaryReactor {
 public:
  ExecuteCall(const grpc::CallbackServerContext& context, grpc::ByteBuffer& response,
              std::atomic<int64_t>& executing)
      : context_(context), response_(response), executing_(executing) {
    ++executing_;
  }
  ~ExecuteCall() override { --executing_; }

  void Start(Engine& engine, const grpc::ByteBuffer& request, int64_t max_message_bytes) {
    absl::StatusOr<OneShot> shot = Prepare(engine, request, max_message_bytes);
    if (!shot.ok()) return Finish(ToGrpcStatus(shot.status()));
    engine.Submit(*std::move(shot));
  }

 private:
  void OnDone() override { delete this; }

  absl::StatusOr<OneShot> Prepare(const Engine& engine, const grpc::ByteBuffer& request,
                                  int64_t max_message_bytes) {
    OPSERVE_ASSIGN_OR_RETURN(request_, ReadExecuteRequest(request));
    const v1::Call& call = request_.header.call();
    OPSERVE_ASSIGN_OR_RETURN(const v1::TensorEncoding encoding,
                             DecodeEncoding(request_.header.output_encoding()));
    OPSERVE_ASSIGN_OR_RETURN(const NamedCall named, DecodeExecuteCall(call, request_.raw));
    OneShot shot;
    OPSERVE_ASSIGN_OR_RETURN(shot.plan, engine.MakePlan(named));
    OPSERVE_ASSIGN_OR_RETURN(CallStorages storages, DecodeStorages(call, std::move(request_.raw)));
    values_ = std::move(storages.values);
    shot.storages = std::move(storages.fragments);
    // First, so that a shape without bytes behind it is what it is, not a large answer.
    OPSERVE_RETURN_IF_ERROR(CheckStorages(shot.plan, shot.storages));
    OPSERVE_RETURN_IF_ERROR(PrepareAnswer(shot.plan.call, encoding, max_message_bytes));
    shot.deadline = absl::FromChrono(context_.deadline());
    shot.cancelled = [this] { return context_.IsCancelled(); };
    shot.done = [this](absl::StatusOr<Outputs> outputs) { Answer(std::move(outputs)); };
    return shot;
  }

  absl::Status PrepareAnswer(const OpCall& call, v1::TensorEncoding encoding,
                             int64_t max_message_bytes) {
    EncodeOutputs(call, *answer_.mutable_outputs());
    encoder_ = OutputEncoder(call, encoding, *answer_.mutable_outputs());
    const size_t bytes =
        ExecuteResponseBytes(answer_, encoder_.raw_sizes()) + encoder_.values_bytes();
    return CheckAnswerSize(call, bytes, max_message_bytes);
  }

  void Answer(absl::StatusOr<Outputs> outputs) {
    request_.slices.clear();  // the engine is done with them; the answer may take long to leave
    if (!outputs.ok()) return Finish(ToGrpcStatus(outputs.status()));
    response_ = WriteExecuteResponse(
        answer_, encoder_.Fill(*std::move(outputs), *answer_.mutable_outputs()));
    Finish(grpc::Status::OK);
  }

  const grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  std::atomic<int64_t>& executing_;
  RawExecuteRequest request_;
  std::vector<std::vector<std::byte>> values_;
  v1::ExecuteResponse answer_;
  OutputEncoder encoder_;
};

grpc::ServerUnaryReactor* FinishNow(grpc::CallbackServerContext* context,
                                    const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

// Requests that can be large are read by us, within our bounds.
using Methods = v1::OperatorService::WithCallbackMethod_GetServerInfo<
    v1::OperatorService::WithRawCallbackMethod_ListOperators<
        v1::OperatorService::WithCallbackMethod_ListDevices<
            v1::OperatorService::WithRawCallbackMethod_GetWorkspaceSize<
                v1::OperatorService::WithRawCallbackMethod_Execute<
                    v1::OperatorService::Service>>>>>;

class OperatorService final : public Methods {
 public:
  OperatorService(Engine& engine, const OperatorServiceOptions& options)
      : engine_(engine), options_(options) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* /*request*/,
                                          v1::GetServerInfoResponse* response) override {
    response->set_version(OPSERVE_VERSION);
    response->set_max_message_bytes(options_.max_message_bytes);
    response->set_memory_limit_bytes(engine_.memory_limit_bytes());
    response->set_recommended_chunk_bytes(kRecommendedChunkBytes);
    response->set_max_rank(kMaxRank);
    return FinishNow(context, absl::OkStatus());
  }

  grpc::ServerUnaryReactor* ListOperators(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override {
    return FinishNow(context, AnswerOperators(*request, *response));
  }

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* /*request*/,
                                        v1::ListDevicesResponse* response) override {
    for (const std::unique_ptr<Device>& device : engine_.devices())
      *response->add_devices() = EncodeDevice(*device);
    return FinishNow(context, absl::OkStatus());
  }

  grpc::ServerUnaryReactor* GetWorkspaceSize(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override {
    return FinishNow(context, AnswerPlan(*request, *response));
  }

  grpc::ServerUnaryReactor* Execute(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    auto* call = new ExecuteCall(*context, *response, *options_.executing);
    call->Start(engine_, *request, options_.max_message_bytes);
    return call;
  }

 private:
  static absl::Status AnswerOperators(const grpc::ByteBuffer& request_bytes,
                                      grpc::ByteBuffer& response_bytes) {
    v1::ListOperatorsRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    if (static_cast<size_t>(request.names_size()) > AllOperators().size()) {
      return InvalidParameter(
          "names",
          absl::StrCat("at most ", AllOperators().size(), " names, as many as there are operators"),
          absl::StrCat(request.names_size()));
    }
    v1::ListOperatorsResponse response;
    if (request.names().empty()) {
      for (const Operator* op : AllOperators()) *response.add_operators() = EncodeSchema(*op);
    }
    for (const std::string& name : request.names()) {
      OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindCallee(name));
      *response.add_operators() = EncodeSchema(*op);
    }
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerPlan(const grpc::ByteBuffer& request_bytes,
                          grpc::ByteBuffer& response_bytes) const {
    v1::GetWorkspaceSizeRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    OPSERVE_ASSIGN_OR_RETURN(const NamedCall named, DecodePlanCall(request.call()));
    OPSERVE_ASSIGN_OR_RETURN(const Plan plan, engine_.MakePlan(named));
    v1::GetWorkspaceSizeResponse response;
    response.set_workspace_bytes(static_cast<int64_t>(plan.workspace_bytes));
    response.set_input_bytes(plan.call.input_bytes());
    response.set_output_bytes(plan.call.output_bytes());
    response.set_device(plan.device->info().name);
    EncodeOutputs(plan.call, *response.mutable_outputs());
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  Engine& engine_;
  const OperatorServiceOptions options_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperatorService(Engine& engine,
                                                   const OperatorServiceOptions& options) {
  return std::make_unique<OperatorService>(engine, options);
}

}  // namespace opserve::server
