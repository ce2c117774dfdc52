#include "server/transport/services/operator_service.h"

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
#include "server/calls/result_form.h"
#include "server/codec/batch_request.h"
#include "server/codec/call_codec.h"
#include "server/codec/message_scanner.h"
#include "server/codec/output_codec.h"
#include "server/codec/program_codec.h"
#include "server/codec/schema_codec.h"
#include "server/codec/statistics_codec.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/messages/session_messages.h"
#include "server/transport/unary/execute_batch_call.h"
#include "server/transport/unary/execute_call.h"
#include "server/transport/unary/missing_message.h"
#include "server/transport/unary/prompt_call.h"

namespace opserve::server {
namespace {

// Requests are read by us, within our bounds.
template <typename Service>
using OperatorMethods = v1::OperatorService::WithRawCallbackMethod_GetServerInfo<
    v1::OperatorService::WithRawCallbackMethod_ListOperators<
        v1::OperatorService::WithRawCallbackMethod_ListDevices<
            v1::OperatorService::WithRawCallbackMethod_GetWorkspaceSize<
                v1::OperatorService::WithRawCallbackMethod_GetStatistics<
                    v1::OperatorService::WithRawCallbackMethod_Execute<
                        v1::OperatorService::WithRawCallbackMethod_ExecuteBatch<Service>>>>>>>;

class OperatorService final : public OperatorMethods<v1::OperatorService::Service> {
 public:
  explicit OperatorService(const OperatorServiceOptions& options)
      : options_(options),
        schemas_(EncodeSchemas()),
        all_schemas_(Joined(schemas_)),
        start_(options.clock->Now()) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override {
    return Answer(Method::kGetServerInfo, *context, *request, *response,
                  &OperatorService::AnswerInfo);
  }

  grpc::ServerUnaryReactor* ListOperators(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override {
    return Answer(Method::kListOperators, *context, *request, *response,
                  &OperatorService::AnswerOperators);
  }

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return Answer(Method::kListDevices, *context, *request, *response,
                  &OperatorService::AnswerDevices);
  }

  grpc::ServerUnaryReactor* GetWorkspaceSize(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override {
    return Answer(Method::kGetWorkspaceSize, *context, *request, *response,
                  &OperatorService::AnswerPlan);
  }

  grpc::ServerUnaryReactor* GetStatistics(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override {
    return Answer(Method::kGetStatistics, *context, *request, *response,
                  &OperatorService::AnswerStatistics);
  }

  grpc::ServerUnaryReactor* Execute(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kExecute, *context);
    return StartExecute(calls(), *context, *request, *response);
  }

  grpc::ServerUnaryReactor* ExecuteBatch(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    if (!request->Valid()) return Refuse(Method::kExecuteBatch, *context);
    return StartExecuteBatch(calls(), *context, *request, *response);
  }

 private:
  // Of each operator a ListOperatorsResponse that has it alone.
  static std::vector<grpc::Slice> EncodeSchemas() {
    std::vector<grpc::Slice> schemas;
    for (const Operator* op : AllOperators()) {
      v1::ListOperatorsResponse response;
      *response.add_operators() = EncodeSchema(*op);
      schemas.emplace_back(response.SerializeAsString());
    }
    return schemas;
  }

  static grpc::Slice Joined(const std::vector<grpc::Slice>& slices) {
    std::string joined;
    for (const grpc::Slice& slice : slices)
      joined.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return grpc::Slice(joined);
  }

  static void EncodeSharedMemory(const RegionTable::Stats& stats,
                                 v1::SharedMemoryStatistics& message) {
    message.set_regions(stats.regions);
    message.set_bytes(stats.bytes);
    message.set_limit_bytes(stats.limit_bytes);
    message.set_allocated(stats.allocated);
    message.set_refused(stats.refused);
  }

  static v1::CostEstimate EncodeCost(const Plan& plan) {
    const Cost& cost = plan.cost;
    v1::CostEstimate estimate;
    estimate.set_bytes(cost.bytes);
    estimate.set_operations(cost.operations);
    estimate.set_expected_ns(absl::ToInt64Nanoseconds(cost.time));
    estimate.set_runs_inline(RunsInline(plan));
    return estimate;
  }

  grpc::ServerUnaryReactor* Refuse(Method method, grpc::CallbackServerContext& context) {
    return RefuseMissingMessage(calls().sinks(), method, context);
  }

  using Handler = absl::Status (OperatorService::*)(const grpc::ByteBuffer& request,
                                                    grpc::ByteBuffer& response) const;

  // Of those that Answer answers.
  static Role RoleFor(Method method) {
    return method == Method::kGetStatistics ? Role::kObserve : Role::kDiscover;
  }

  // A call that is answered here and now.
  grpc::ServerUnaryReactor* Answer(Method method, grpc::CallbackServerContext& context,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer& response,
                                   Handler handler) {
    return StartPromptCall(
        calls(), method, RoleFor(method), context, request, response,
        [this, handler](const Caller& /*caller*/, const grpc::ByteBuffer& bytes,
                        grpc::ByteBuffer& answer) { return (this->*handler)(bytes, answer); });
  }

  absl::Status AnswerInfo(const grpc::ByteBuffer& request_bytes,
                          grpc::ByteBuffer& response_bytes) const {
    v1::GetServerInfoRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    v1::GetServerInfoResponse response;
    response.set_version(OPSERVE_VERSION);
    response.set_max_message_bytes(calls().max_message_bytes);
    response.set_memory_limit_bytes(calls().engine.memory_limit_bytes());
    response.set_recommended_chunk_bytes(options_.recommended_chunk_bytes);
    response.set_max_rank(kMaxRank);
    if (calls().regions != nullptr) {
      response.set_shared_memory_socket(options_.shared_memory_socket);
      response.set_shared_memory_limit_bytes(calls().regions->stats().limit_bytes);
      response.add_features("shared_memory");
    }
    if (calls().max_inflated_bytes > 0) response.add_features("compression");
    FillLimits(response);
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  void FillLimits(v1::GetServerInfoResponse& response) const {
    response.set_max_header_bytes(kMaxHeaderBytes);
    response.set_max_raw_entries(kMaxRawEntries);
    response.set_max_batch_raw_entries(kMaxBatchRawEntries);
    response.set_max_batch_calls(kMaxBatchCalls);
    response.set_max_session_commands(CommandReader::kMaxCommands);
    response.set_max_name_bytes(kMaxNameBytes);
    response.set_max_program_steps(
        static_cast<int32_t>(calls().engine.call_limits().max_program_steps));
    response.set_max_attribute_elements(kMaxAttributeTensorElements);
    response.set_max_values_bytes(kMaxValuesBytes);
    response.set_max_inflated_bytes(calls().max_inflated_bytes);
    const absl::Duration max_time = calls().engine.call_limits().max_time;
    if (max_time < absl::InfiniteDuration())
      response.set_max_call_time_ns(absl::ToInt64Nanoseconds(max_time));
  }

  absl::Status AnswerDevices(const grpc::ByteBuffer& request_bytes,
                             grpc::ByteBuffer& response_bytes) const {
    v1::ListDevicesRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    v1::ListDevicesResponse response;
    for (const std::unique_ptr<Device>& device : calls().engine.devices())
      *response.add_devices() = EncodeDevice(*device);
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerStatistics(const grpc::ByteBuffer& request_bytes,
                                grpc::ByteBuffer& response_bytes) const {
    v1::GetStatisticsRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    v1::GetStatisticsResponse response =
        EncodeStatistics(calls().counters.Sum(), calls().engine, options_.clock->Now() - start_);
    if (calls().regions != nullptr)
      EncodeSharedMemory(calls().regions->stats(), *response.mutable_shared_memory());
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  absl::Status AnswerOperators(const grpc::ByteBuffer& request_bytes,
                               grpc::ByteBuffer& response_bytes) const {
    v1::ListOperatorsRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    if (static_cast<size_t>(request.names_size()) > AllOperators().size()) {
      return OutOfRange(
          "names",
          absl::StrCat("at most ", AllOperators().size(), " names, as many as there are operators"),
          absl::StrCat(request.names_size()));
    }
    if (request.names().empty()) {
      response_bytes = grpc::ByteBuffer(&all_schemas_, 1);
      return absl::OkStatus();
    }
    // Messages that follow each other are one with the operators of both.
    std::vector<grpc::Slice> asked;
    for (const std::string& name : request.names()) {
      OPSERVE_ASSIGN_OR_RETURN(const Operator* op, FindCallee(name));
      asked.push_back(schemas_[OperatorIndex(*op)]);
    }
    response_bytes = grpc::ByteBuffer(asked.data(), asked.size());
    return absl::OkStatus();
  }

  absl::Status AnswerPlan(const grpc::ByteBuffer& request_bytes,
                          grpc::ByteBuffer& response_bytes) const {
    v1::GetWorkspaceSizeRequest request;
    OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
    OPSERVE_ASSIGN_OR_RETURN(const NamedCall named,
                             DecodeCall(request.call(), TensorData::kIgnored, {}));
    OPSERVE_ASSIGN_OR_RETURN(const Plan plan, calls().engine.MakePlan(named));
    v1::GetWorkspaceSizeResponse response;
    response.set_workspace_bytes(static_cast<int64_t>(plan.workspace_bytes));
    response.set_input_bytes(plan.call.input_bytes());
    response.set_output_bytes(plan.call.output_bytes());
    response.set_device(plan.device->info().name);
    *response.mutable_cost() = EncodeCost(plan);
    EncodeOutputs(plan.call, *response.mutable_outputs());
    if (plan.program != nullptr) EncodeProgramPlan(plan, *response.mutable_program());
    response_bytes = WriteMessage(response);
    return absl::OkStatus();
  }

  const ExecuteContext& calls() const { return options_.calls; }

  const OperatorServiceOptions options_;
  const std::vector<grpc::Slice> schemas_;  // as AllOperators
  const grpc::Slice all_schemas_;           // one after the other
  const absl::Time start_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperatorService(const OperatorServiceOptions& options) {
  return std::make_unique<OperatorService>(options);
}

}  // namespace opserve::server
