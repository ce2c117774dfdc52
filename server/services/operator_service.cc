#include "server/services/operator_service.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "core/tensor/shape.h"
#include "opserve/v1/operator_service.grpc.pb.h"
#include "server/services/call_meter.h"
#include "server/services/execute_batch_call.h"
#include "server/services/execute_call.h"
#include "server/services/missing_message.h"
#include "server/wire/call_codec.h"
#include "server/wire/output_codec.h"
#include "server/wire/raw_message.h"
#include "server/wire/schema_codec.h"
#include "server/wire/statistics_codec.h"

namespace opserve::server {
namespace {

// Where large streams were fastest (256 KiB to 4 MiB).
constexpr int64_t kRecommendedChunkBytes = 1 << 20;

// Requests that can be large are read by us, within our bounds.
using ExecuteMethods = v1::OperatorService::WithRawCallbackMethod_Execute<
    v1::OperatorService::WithRawCallbackMethod_ExecuteBatch<v1::OperatorService::Service>>;
using Methods = v1::OperatorService::WithCallbackMethod_GetServerInfo<
    v1::OperatorService::WithRawCallbackMethod_ListOperators<
        v1::OperatorService::WithCallbackMethod_ListDevices<
            v1::OperatorService::WithRawCallbackMethod_GetWorkspaceSize<
                v1::OperatorService::WithCallbackMethod_GetStatistics<ExecuteMethods>>>>>;

class OperatorService final : public Methods {
 public:
  OperatorService(Engine& engine, const OperatorServiceOptions& options)
      : engine_(engine),
        options_(options),
        execute_{engine,         *options.counters,         *options.executing,
                 *options.plans, options.max_message_bytes, options.regions},
        start_(options.clock->Now()) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* /*request*/,
                                          v1::GetServerInfoResponse* response) override {
    CallMeter meter(*options_.counters, Method::kGetServerInfo, *context, 0);
    response->set_version(OPSERVE_VERSION);
    response->set_max_message_bytes(options_.max_message_bytes);
    response->set_memory_limit_bytes(engine_.memory_limit_bytes());
    response->set_recommended_chunk_bytes(kRecommendedChunkBytes);
    response->set_max_rank(kMaxRank);
    response->set_shared_memory_socket(options_.shared_memory_socket);
    if (options_.regions != nullptr)
      response->set_shared_memory_limit_bytes(options_.regions->stats().limit_bytes);
    return FinishNow(*context, meter, absl::OkStatus(), response->ByteSizeLong());
  }

  grpc::ServerUnaryReactor* ListOperators(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kListOperators, *context);
    CallMeter meter(*options_.counters, Method::kListOperators, *context, request->Length());
    const absl::Status status = AnswerOperators(*request, *response);
    return FinishNow(*context, meter, status, response->Length());
  }

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* /*request*/,
                                        v1::ListDevicesResponse* response) override {
    CallMeter meter(*options_.counters, Method::kListDevices, *context, 0);
    for (const std::unique_ptr<Device>& device : engine_.devices())
      *response->add_devices() = EncodeDevice(*device);
    return FinishNow(*context, meter, absl::OkStatus(), response->ByteSizeLong());
  }

  grpc::ServerUnaryReactor* GetWorkspaceSize(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kGetWorkspaceSize, *context);
    CallMeter meter(*options_.counters, Method::kGetWorkspaceSize, *context, request->Length());
    const absl::Status status = AnswerPlan(*request, *response);
    return FinishNow(*context, meter, status, response->Length());
  }

  grpc::ServerUnaryReactor* GetStatistics(grpc::CallbackServerContext* context,
                                          const v1::GetStatisticsRequest* /*request*/,
                                          v1::GetStatisticsResponse* response) override {
    CallMeter meter(*options_.counters, Method::kGetStatistics, *context, 0);
    *response = EncodeStatistics(options_.counters->Sum(), engine_, options_.clock->Now() - start_);
    if (options_.regions != nullptr)
      EncodeSharedMemory(options_.regions->stats(), *response->mutable_shared_memory());
    return FinishNow(*context, meter, absl::OkStatus(), response->ByteSizeLong());
  }

  grpc::ServerUnaryReactor* Execute(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kExecute, *context);
    return StartExecute(execute_, *context, *request, *response);
  }

  grpc::ServerUnaryReactor* ExecuteBatch(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kExecuteBatch, *context);
    return StartExecuteBatch(execute_, *context, *request, *response);
  }

 private:
  static v1::CostEstimate EncodeCost(const Plan& plan) {
    const Cost& cost = plan.cost;
    v1::CostEstimate estimate;
    estimate.set_bytes(cost.bytes);
    estimate.set_operations(cost.operations);
    estimate.set_seconds(absl::ToDoubleSeconds(cost.time));
    estimate.set_inline_(RunsInline(plan));
    return estimate;
  }

  grpc::ServerUnaryReactor* Refuse(Method method, grpc::CallbackServerContext& context) {
    return RefuseMissingMessage(*options_.counters, method, context);
  }

  grpc::ServerUnaryReactor* FinishNow(grpc::CallbackServerContext& context, CallMeter& meter,
                                      const absl::Status& status, size_t response_bytes) {
    grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
    reactor->Finish(meter.End(status, response_bytes));
    return reactor;
  }

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
    *response.mutable_cost() = EncodeCost(plan);
    EncodeOutputs(plan.call, *response.mutable_outputs());
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  Engine& engine_;
  const OperatorServiceOptions options_;
  const ExecuteContext execute_;
  const absl::Time start_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperatorService(Engine& engine,
                                                   const OperatorServiceOptions& options) {
  return std::make_unique<OperatorService>(engine, options);
}

}  // namespace opserve::server
