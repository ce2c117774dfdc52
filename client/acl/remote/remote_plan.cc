#include "client/acl/remote/remote_plan.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/acl/remote/remote_memory.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

constexpr int64_t kWorkspaceAlignment = 64;

absl::StatusOr<client::DeviceTensor> TensorOf(const TensorArgument& argument,
                                              const client::DeviceBuffer& nothing) {
  OPSERVE_RETURN_IF_ERROR(CheckDesc(argument.desc, argument.name));
  if (argument.desc.num_elements() == 0) return client::DeviceTensor{nothing, 0, argument.desc};
  if (argument.storage.memory == nullptr) return MissingParameter(argument.name, "a buffer");
  return client::DeviceTensor{BufferOf(argument.storage), argument.storage.offset_bytes,
                              argument.desc};
}

void AddAttribute(client::DeviceCall& call, const AttributeArgument& attribute) {
  std::visit(
      [&](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          call.Attribute(attribute.name, client::AttributeValue(value));
      },
      attribute.value);
}

// An output without memory that the call masks out is not sent: the server then takes it for one
// that it shall make, if it is wanted.
bool IsSent(const TensorArgument& output) {
  return !output.missing &&
         (output.storage.memory != nullptr || NumElements(output.desc.shape) == 0);
}

absl::StatusOr<client::DeviceCall> ToDeviceCall(const OperatorCall& call,
                                                const client::DeviceBuffer& nothing) {
  client::DeviceCall made(call.op);
  for (const TensorArgument& input : call.inputs) {
    OPSERVE_ASSIGN_OR_RETURN(client::DeviceTensor tensor, TensorOf(input, nothing));
    made.Input(input.name, std::move(tensor));
  }
  for (const AttributeArgument& attribute : call.attributes) AddAttribute(made, attribute);
  for (const TensorArgument& output : call.outputs) {
    if (!IsSent(output)) continue;
    OPSERVE_ASSIGN_OR_RETURN(client::DeviceTensor tensor, TensorOf(output, nothing));
    made.Output(output.name, std::move(tensor));
  }
  return made;
}

bool IsMasked(const client::PlannedOutput& output) {
  return output.desc.shape.size() == 1 && output.desc.shape[0] == 0;
}

absl::Status CheckNoneIsWanted(const OperatorCall& call,
                               const std::vector<client::PlannedOutput>& planned) {
  for (const TensorArgument& output : call.outputs) {
    if (IsSent(output)) continue;
    const auto plan = std::find_if(planned.begin(), planned.end(),
                                   [&output](const client::PlannedOutput& candidate) {
                                     return candidate.name == output.name;
                                   });
    if (plan == planned.end())
      return absl::InternalError(absl::StrCat("the server's answer: want a plan of the output ",
                                              std::string(output.name), ", got none"));
    if (IsMasked(*plan)) continue;
    if (!output.missing) return MissingParameter(output.name, "a buffer");
    return InvalidParameter(output.name, "a tensor, as output_mask asks for it", "none");
  }
  return absl::OkStatus();
}

std::vector<RemotePlan::Reach> ReachesOf(const OperatorCall& call) {
  std::vector<RemotePlan::Reach> reaches;
  for (const auto* tensors : {&call.inputs, &call.outputs}) {
    for (const TensorArgument& tensor : *tensors) {
      if (!tensor.missing && tensor.storage.memory != nullptr)
        reaches.push_back({tensor.name, tensor.storage, tensor.desc.reach_bytes()});
    }
  }
  return reaches;
}

bool Overlap(const RemotePlan::Reach& tensor, const MemoryView& workspace, int64_t bytes) {
  return tensor.storage.memory == workspace.memory &&
         tensor.storage.offset_bytes < workspace.offset_bytes + bytes &&
         workspace.offset_bytes < tensor.storage.offset_bytes + tensor.bytes;
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
  OPSERVE_RETURN_IF_ERROR(session_.Told(executor_.SetTensorsAndWait(tensors)));
  const MutexLock lock(mutex_);
  for (Reach& tensor : tensors_) {
    for (const auto& [name, view] : storages) {
      if (name == tensor.name) tensor.storage = view;
    }
  }
  return absl::OkStatus();
}

absl::Status RemotePlan::CheckWorkspace(const MemoryView& workspace) const {
  if (workspace.memory == nullptr) return absl::OkStatus();
  const int64_t left = workspace.memory->size_bytes() - workspace.offset_bytes;
  if (left < workspace_bytes_) {
    return InvalidParameter("workspace", absl::StrCat("at least ", workspace_bytes_, " bytes"),
                            absl::StrCat(left));
  }
  if (workspace.offset_bytes % kWorkspaceAlignment != 0) {
    return InvalidParameter("workspace",
                            absl::StrCat("an address that is a multiple of ", kWorkspaceAlignment),
                            absl::StrCat(workspace.offset_bytes, " bytes behind one"));
  }
  const MutexLock lock(mutex_);
  for (const Reach& tensor : tensors_) {
    if (!Overlap(tensor, workspace, workspace_bytes_)) continue;
    return InvalidParameter("workspace",
                            absl::StrCat("memory apart from that of ", std::string(tensor.name)),
                            "memory that overlaps it");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakeRemotePlan(ServerSession& session,
                                                             client::Context context,
                                                             const client::DeviceBuffer& nothing,
                                                             const OperatorCall& call) {
  OPSERVE_RETURN_IF_ERROR(session.CheckAlive());
  OPSERVE_ASSIGN_OR_RETURN(const client::DeviceCall made, ToDeviceCall(call, nothing));
  client::Executor executor = context.GetWorkspaceSize(made, client::ExecutorUse::kRepeatable);
  const absl::StatusOr<client::ExecutorPlan> plan = executor.plan();
  if (!plan.ok()) return session.Told(plan.status());
  OPSERVE_RETURN_IF_ERROR(CheckNoneIsWanted(call, plan->outputs));
  return std::make_shared<RemotePlan>(session, std::move(executor), plan->workspace_bytes,
                                      ReachesOf(call));
}

}  // namespace opserve::acl
