#include "server/transport/services/inference_service.h"

#include <atomic>
#include <span>
#include <string>
#include <string_view>

#include <google/protobuf/descriptor.h>
#include <grpcpp/support/method_handler.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "inference/open_inference.grpc.pb.h"
#include "server/open_inference/model_codec.h"
#include "server/open_inference/model_statistics.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/services/infer_stream.h"
#include "server/transport/services/memory_methods.h"
#include "server/transport/unary/infer_call.h"
#include "server/transport/unary/missing_message.h"
#include "server/transport/unary/prompt_call.h"

namespace opserve::server {
namespace {

using grpc::ByteBuffer;

class GrpcInferenceService final : public InferenceService,
                                   private inference::GRPCInferenceService::Service {
 public:
  explicit GrpcInferenceService(const ExecuteContext& calls) : calls_(calls) {
    // Requests are read by us, within our bounds: those of every method, as gRPC would read the
    // others whole, on threads of its own.
    for (const Row& row : kRows) Take(row);
    TakeStream();
  }

  grpc::Service& service() override { return *this; }
  void SetDraining() override { is_draining_ = true; }

 private:
  using Handler = absl::Status (GrpcInferenceService::*)(const ByteBuffer& request,
                                                         ByteBuffer& response) const;
  struct Row {
    const char* name = nullptr;
    Method method = Method::kUnsupported;
    Handler answer = nullptr;  // nullptr: runs on the engine, or is `memory`
    MemoryMethod* memory = nullptr;
    Role role = Role::kDiscover;
  };
  static const std::span<const Row> kRows;

  void Take(const Row& row) {
    const auto start = [this, &row](grpc::CallbackServerContext* context, const ByteBuffer* request,
                                    ByteBuffer* response) -> grpc::ServerUnaryReactor* {
      if (row.answer == nullptr && row.memory == nullptr)
        return StartRun(row.method, *context, *request, *response);
      return StartPromptCall(calls_, row.method, row.role, *context, *request, *response,
                             [this, &row](const Caller& caller, const ByteBuffer& request_bytes,
                                          ByteBuffer& response_bytes) {
                               return Answer(row, caller, request_bytes, response_bytes);
                             });
    };
    MarkMethodRawCallback(IndexOf(row.name),
                          new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(start));
  }

  absl::Status Answer(const Row& row, const Caller& caller, const ByteBuffer& request,
                      ByteBuffer& response) const {
    if (row.memory != nullptr) return row.memory(calls_, caller, request, response);
    return (this->*row.answer)(request, response);
  }

  static int IndexOf(const char* method) {
    return google::protobuf::DescriptorPool::generated_pool()
        ->FindServiceByName(kInferenceService)
        ->FindMethodByName(method)
        ->index();
  }

  void TakeStream() {
    const auto start = [this](grpc::CallbackServerContext* context) {
      return StartInferStream(calls_, *context);
    };
    MarkMethodRawCallback(IndexOf("ModelStreamInfer"),
                          new grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>(start));
  }

  grpc::ServerUnaryReactor* StartRun(Method method, grpc::CallbackServerContext& context,
                                     const ByteBuffer& request, ByteBuffer& response) {
    if (!request.Valid()) return RefuseMissingMessage(calls_.sinks(), method, context);
    return StartInfer(calls_, context, request, response);
  }

  absl::Status AnswerServerLive(const ByteBuffer& request_bytes, ByteBuffer& response_bytes) const {
    inference::ServerLiveRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    inference::ServerLiveResponse response;
    response.set_live(true);
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerServerReady(const ByteBuffer& request_bytes,
                                 ByteBuffer& response_bytes) const {
    inference::ServerReadyRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    inference::ServerReadyResponse response;
    response.set_ready(!is_draining_ && HasWorkingDevice(calls_.engine));
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerServerMetadata(const ByteBuffer& request_bytes,
                                    ByteBuffer& response_bytes) const {
    inference::ServerMetadataRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    response_bytes = WriteMessage(EncodeServerMetadata(calls_.named_regions != nullptr));
    return absl::OkStatus();
  }

  // The operator that a request about a model names.
  template <typename Request>
  static absl::StatusOr<const Operator*> ReadModel(const ByteBuffer& request_bytes) {
    Request request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    return FindModel(request.name(), request.version());
  }

  absl::Status AnswerModelReady(const ByteBuffer& request_bytes, ByteBuffer& response_bytes) const {
    OPSERVE_ASSIGN_OR_RETURN(const Operator* op,
                             ReadModel<inference::ModelReadyRequest>(request_bytes));
    inference::ModelReadyResponse response;
    response.set_ready(!is_draining_ && WhyUnavailable(calls_.engine, *op).empty());
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerModelMetadata(const ByteBuffer& request_bytes,
                                   ByteBuffer& response_bytes) const {
    OPSERVE_ASSIGN_OR_RETURN(const Operator* op,
                             ReadModel<inference::ModelMetadataRequest>(request_bytes));
    response_bytes = WriteMessage(EncodeModelMetadata(*op));
    return absl::OkStatus();
  }

  absl::Status AnswerModelConfig(const ByteBuffer& request_bytes,
                                 ByteBuffer& response_bytes) const {
    OPSERVE_ASSIGN_OR_RETURN(const Operator* op,
                             ReadModel<inference::ModelConfigRequest>(request_bytes));
    inference::ModelConfigResponse response;
    *response.mutable_config() = EncodeModelConfig(*op);
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerModelStatistics(const ByteBuffer& request_bytes,
                                     ByteBuffer& response_bytes) const {
    inference::ModelStatisticsRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    const Operator* op = nullptr;
    if (!request.name().empty()) {
      OPSERVE_ASSIGN_OR_RETURN(op, FindModel(request.name(), request.version()));
    }
    response_bytes = WriteMessage(EncodeModelStatistics(calls_.engine.statistics(), op));
    return absl::OkStatus();
  }

  absl::Status AnswerRepositoryIndex(const ByteBuffer& request_bytes,
                                     ByteBuffer& response_bytes) const {
    inference::RepositoryIndexRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    response_bytes = WriteMessage(EncodeIndex(calls_.engine, request.ready()));
    return absl::OkStatus();
  }

  absl::Status Unsupported(const ByteBuffer& /*request*/, ByteBuffer& /*response*/) const {
    return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                      .op = {},
                      .parameter = "method",
                      .want = "one that opserve has (docs/open_inference.md)",
                      .got = "another"});
  }

  const ExecuteContext calls_;
  std::atomic<bool> is_draining_ = false;
};

const std::span<const GrpcInferenceService::Row> GrpcInferenceService::kRows = [] {
  using S = GrpcInferenceService;
  static constexpr Row kTable[] = {
      {"ServerLive", Method::kServerLive, &S::AnswerServerLive},
      {"ServerReady", Method::kServerReady, &S::AnswerServerReady},
      {"ModelReady", Method::kModelReady, &S::AnswerModelReady},
      {"ServerMetadata", Method::kServerMetadata, &S::AnswerServerMetadata},
      {"ModelMetadata", Method::kModelMetadata, &S::AnswerModelMetadata},
      {"ModelInfer", Method::kModelInfer, nullptr},
      {"ModelConfig", Method::kModelConfig, &S::AnswerModelConfig},
      {"ModelStatistics", Method::kModelStatistics, &S::AnswerModelStatistics, nullptr,
       Role::kObserve},
      {"RepositoryIndex", Method::kRepositoryIndex, &S::AnswerRepositoryIndex},
      {"RepositoryModelLoad", Method::kUnsupported, &S::Unsupported},
      {"RepositoryModelUnload", Method::kUnsupported, &S::Unsupported},
      {"SystemSharedMemoryStatus", Method::kSystemSharedMemory, nullptr, &AnswerRegionStatus},
      {"SystemSharedMemoryRegister", Method::kSystemSharedMemory, nullptr, &AnswerRegister,
       Role::kExecute},
      {"SystemSharedMemoryUnregister", Method::kSystemSharedMemory, nullptr, &AnswerUnregister,
       Role::kExecute},
      {"CudaSharedMemoryStatus", Method::kUnsupported, nullptr, &AnswerCudaStatus},
      {"CudaSharedMemoryRegister", Method::kUnsupported, nullptr, &RefuseCuda},
      {"CudaSharedMemoryUnregister", Method::kUnsupported, nullptr, &RefuseCuda},
      {"TraceSetting", Method::kUnsupported, &S::Unsupported},
      {"LogSettings", Method::kUnsupported, &S::Unsupported},
  };
  return std::span<const Row>(kTable);
}();

}  // namespace

std::unique_ptr<InferenceService> MakeInferenceService(const ExecuteContext& calls) {
  return std::make_unique<GrpcInferenceService>(calls);
}

}  // namespace opserve::server
