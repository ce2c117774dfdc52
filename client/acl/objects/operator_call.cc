#include "client/acl/objects/operator_call.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/acl/objects/faults.h"
#include "core/base/alignment.h"
#include "core/base/op_error.h"

namespace opserve::acl {
namespace {

absl::StatusOr<std::shared_ptr<OperatorExecutor>> FindExecutor(Runtime& runtime,
                                                               const aclOpExecutor* handle) {
  if (handle == nullptr) return MissingParameter("executor", "an executor");
  std::shared_ptr<OperatorExecutor> executor = runtime.executors.Find(handle);
  // A one-shot executor is the one caller's who takes it.
  if (executor != nullptr && !executor->repeatable()) executor = runtime.executors.Remove(handle);
  if (executor != nullptr) return executor;
  return InvalidParameter("executor", "an executor that was not executed yet, or a repeatable one",
                          "one that was executed, destroyed or never created");
}

absl::StatusOr<MemoryView> FindWorkspace(const Runtime& runtime, const OperatorExecutor& executor,
                                         const void* workspace, uint64_t size) {
  const auto want = static_cast<uint64_t>(executor.workspace_bytes());
  if (want == 0) return MemoryView();
  const std::string bytes = absl::StrCat(">= ", want, " bytes");
  if (workspace == nullptr) return MissingParameter("workspace", bytes);
  const std::optional<DeviceAddress> found = runtime.device_memory.Find(workspace);
  const std::string address = absl::StrFormat("%p", workspace);
  if (!found.has_value())
    return InvalidParameter("workspace", "an address of device memory", address);
  if (found->view.offset_bytes % kDeviceAlignment != 0)
    return InvalidParameter(
        "workspace", absl::StrCat("an address that is a multiple of ", kDeviceAlignment), address);
  const uint64_t most = std::min(size, static_cast<uint64_t>(found->bytes_left()));
  if (most < want) return InvalidParameter("workspace", bytes, absl::StrCat(most));
  return found->view;
}

absl::Status CheckExecutor(const OperatorExecutor& executor, std::string_view op,
                           const StreamObject& stream) {
  if (executor.op() != op) {
    return InvalidParameter("executor", absl::StrCat("one of ", std::string(op)),
                            absl::StrCat("one of ", std::string(executor.op())));
  }
  if (executor.context() == stream.context) return absl::OkStatus();
  return InvalidParameter("executor", "one of the stream's context", "another context's");
}

absl::Status Execute(std::string_view op, const void* workspace, uint64_t workspace_size,
                     const aclOpExecutor* handle, const void* stream_handle) {
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Runtime> runtime, Runtime::Get());
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<OperatorExecutor> executor,
                           FindExecutor(*runtime, handle));
  OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<StreamObject> stream,
                           FindStream(scope, stream_handle));
  OPSERVE_RETURN_IF_ERROR(CheckExecutor(*executor, op, *stream));
  OPSERVE_ASSIGN_OR_RETURN(const MemoryView view,
                           FindWorkspace(*runtime, *executor, workspace, workspace_size));
  OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kPhase2));
  const absl::Status fault = Faults::Get().Check(Fault::kKernel);
  if (fault.ok()) return executor->Execute(*stream->stream, view);
  MutexLock lock(stream->mutex);
  if (stream->injected.ok()) stream->injected = fault;
  return absl::OkStatus();
}

// Failures that are core's already name the operator; the runtime's do not.
absl::Status NamingOperator(const absl::Status& status, std::string_view op) {
  if (status.ok() || GetErrorDetail(status).has_value()) return WithOperator(status, op);
  return Failure(OperatorCode(status), absl::StrCat(std::string(op), ": ", status.message()));
}

absl::Status Plan(CallBuilder& builder, std::string_view op, const PlanOutputs& outputs) {
  OPSERVE_RETURN_IF_ERROR(builder.Check());
  OPSERVE_ASSIGN_OR_RETURN(const Scope scope, EnterDevice());
  OPSERVE_RETURN_IF_ERROR(Faults::Get().Check(Fault::kPhase1));
  auto plan = scope.device().MakePlan(builder.Resolve(*scope.runtime));
  if (!plan.ok()) return builder.Explain(plan.status());
  const auto bytes = static_cast<uint64_t>((*plan)->workspace_bytes());
  auto executor = std::make_shared<OperatorExecutor>(op, scope.context->handle, *std::move(plan),
                                                     builder.TakeTensors());
  *outputs.executor =
      static_cast<aclOpExecutor*>(scope.runtime->executors.Add(std::move(executor)));
  *outputs.workspace_size = bytes;
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPlanOutputs(const PlanOutputs& outputs, std::string_view op) {
  if (outputs.workspace_size == nullptr)
    return WithOperator(MissingParameter("workspace_size", "an address"), op);
  if (outputs.executor == nullptr)
    return WithOperator(MissingParameter("executor", "an address"), op);
  return absl::OkStatus();
}

absl::Status MakeExecutor(CallBuilder& builder, std::string_view op, const PlanOutputs& outputs) {
  return NamingOperator(Plan(builder, op, outputs), op);
}

aclnnStatus ExecuteOperator(std::string_view op, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream) {
  return OperatorCallCode(
      [&] { return NamingOperator(Execute(op, workspace, workspace_size, executor, stream), op); });
}

}  // namespace opserve::acl
