#include "client/acl/remote/remote_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/acl/remote/remote_memory.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

using HiddenOutputs = std::vector<std::pair<std::string_view, client::DeviceTensor>>;

absl::StatusOr<client::DeviceTensor> TensorOf(std::string_view name, const TensorDesc& desc,
                                              const MemoryView& storage,
                                              const client::DeviceBuffer& nothing) {
  if (desc.num_elements() == 0) return client::DeviceTensor{nothing, 0, desc};
  if (storage.memory == nullptr) return MissingParameter(name, "a buffer");
  return client::DeviceTensor{BufferOf(storage), storage.offset_bytes, desc};
}

void AddAttribute(client::DeviceCall& call, const NamedAttribute& attribute) {
  std::visit(
      [&](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          call.Attribute(attribute.name, client::AttributeValue(value));
      },
      attribute.value);
}

// An output without memory that the call masks out is not sent: the server then takes it for one
// that it shall make, if it is wanted.
bool IsSent(const OperatorCall& call, const NamedOutput& output) {
  return !output.missing &&
         (call.StorageOf(output).memory != nullptr || NumElements(output.given->shape) == 0);
}

// `hidden`: outputs that nobody will read, but the operator writes.
absl::StatusOr<client::DeviceCall> ToDeviceCall(const OperatorCall& call,
                                                const client::DeviceBuffer& nothing,
                                                const HiddenOutputs& hidden) {
  client::DeviceCall made(call.named.op->name);
  for (const NamedInput& input : call.named.inputs) {
    OPSERVE_ASSIGN_OR_RETURN(client::DeviceTensor tensor,
                             TensorOf(input.name, input.desc, call.StorageOf(input), nothing));
    made.Input(input.name, std::move(tensor));
  }
  for (const NamedAttribute& attribute : call.named.attributes) AddAttribute(made, attribute);
  for (const NamedOutput& output : call.named.outputs) {
    if (!IsSent(call, output)) continue;
    OPSERVE_ASSIGN_OR_RETURN(client::DeviceTensor tensor,
                             TensorOf(output.name, *output.given, call.StorageOf(output), nothing));
    made.Output(output.name, std::move(tensor));
  }
  for (const auto& [name, tensor] : hidden) made.Output(name, tensor);
  return made;
}

bool IsMasked(const client::PlannedOutput& output) {
  return output.desc.shape.size() == 1 && output.desc.shape[0] == 0;
}

bool HasMask(const Operator& op) {
  return std::any_of(op.attributes.begin(), op.attributes.end(),
                     [](const AttributeParam& param) { return param.name == "output_mask"; });
}

// Memory for the outputs that the server wants to make, where the program may leave them out.
absl::StatusOr<HiddenOutputs> HideOutputs(const OperatorCall& call, client::Context& context,
                                          const std::vector<client::PlannedOutput>& planned) {
  HiddenOutputs hidden;
  for (const NamedOutput& output : call.named.outputs) {
    if (IsSent(call, output)) continue;
    const auto plan = std::find_if(planned.begin(), planned.end(),
                                   [&output](const client::PlannedOutput& candidate) {
                                     return candidate.name == output.name;
                                   });
    if (plan == planned.end())
      return absl::InternalError(absl::StrCat("the server's answer: want a plan of the output ",
                                              std::string(output.name), ", got none"));
    if (IsMasked(*plan)) continue;
    if (!output.missing) return MissingParameter(output.name, "a buffer");
    if (HasMask(*call.named.op))
      return InvalidParameter(output.name, "a tensor, as output_mask asks for it", "none");
    hidden.emplace_back(output.name, context.NewTensor(plan->desc.dtype, plan->desc.shape));
  }
  return hidden;
}

}  // namespace

absl::Status RemotePlan::SetStorages(
    std::span<const std::pair<std::string_view, MemoryView>> storages) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  std::vector<std::pair<std::string, client::DeviceTensor>> tensors;
  for (const auto& [name, view] : storages) {
    if (view.memory == nullptr) return MissingParameter(name, "a buffer");
    tensors.emplace_back(
        std::string(name),
        client::DeviceTensor{.buffer = BufferOf(view), .offset_bytes = view.offset_bytes});
  }
  return session_.Told(executor_.SetTensorsAndWait(tensors));
}

absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakeRemotePlan(ServerSession& session,
                                                             client::Context context,
                                                             const client::DeviceBuffer& nothing,
                                                             const OperatorCall& call,
                                                             KnownPlans& known) {
  OPSERVE_RETURN_IF_ERROR(session.CheckAlive());
  OPSERVE_ASSIGN_OR_RETURN(const client::DeviceCall made, ToDeviceCall(call, nothing, {}));
  std::string key = KnownPlans::KeyOf(call);
  const std::optional<int64_t> bytes = known.Find(key);
  if (bytes.has_value()) {
    return std::make_shared<RemotePlan>(
        session,
        context.CreateExecutor(made, client::ExecutorUse::kRepeatable, client::PlanWanted::kLater),
        *bytes, RemotePlan::Made::kBelieved);
  }
  client::Executor executor = context.CreateExecutor(made, client::ExecutorUse::kRepeatable);
  absl::StatusOr<client::ExecutorPlan> plan = executor.plan();
  if (!plan.ok()) return session.Told(plan.status());
  OPSERVE_ASSIGN_OR_RETURN(const HiddenOutputs hidden, HideOutputs(call, context, plan->outputs));
  if (hidden.empty()) {
    known.Remember(std::move(key), plan->workspace_bytes);
  } else {
    OPSERVE_ASSIGN_OR_RETURN(const client::DeviceCall whole, ToDeviceCall(call, nothing, hidden));
    executor = context.CreateExecutor(whole, client::ExecutorUse::kRepeatable);
    plan = executor.plan();
    if (!plan.ok()) return session.Told(plan.status());
  }
  return std::make_shared<RemotePlan>(session, std::move(executor), plan->workspace_bytes,
                                      RemotePlan::Made::kSaid);
}

}  // namespace opserve::acl
