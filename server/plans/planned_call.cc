#include "server/plans/planned_call.h"

#include <utility>

#include "core/base/status_macros.h"
#include "server/wire/call_codec.h"

namespace opserve::server {
namespace {

// Raw entries that are attributes are part of the plan.
bool HasOnlyInputsInRaw(const v1::Call& call, const Operator& op) {
  for (const v1::Tensor& tensor : call.inputs()) {
    if (tensor.has_raw_index() && op.FindInput(tensor.name()) < 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PlannedCall>> PlannedCall::Make(const Engine& engine,
                                                                     const v1::Call& call,
                                                                     std::span<const Fragments> raw,
                                                                     v1::TensorEncoding encoding,
                                                                     std::string_view device) {
  const std::shared_ptr<PlannedCall> planned(new PlannedCall());
  OPSERVE_ASSIGN_OR_RETURN(NamedCall named, DecodeExecuteCall(call, raw));
  if (named.device.empty()) named.device = device;
  OPSERVE_ASSIGN_OR_RETURN(planned->plan_, engine.MakePlan(named));
  OPSERVE_ASSIGN_OR_RETURN(CallStorages storages, DecodeStorages(call, {raw.begin(), raw.end()}));
  planned->values_.assign(storages.fragments.begin() + static_cast<std::ptrdiff_t>(raw.size()),
                          storages.fragments.end());
  planned->value_bytes_ = std::move(storages.values);
  const OpCall& op_call = planned->plan_->call;
  planned->form_ = ResultForm(op_call, encoding);
  planned->is_shareable_ = HasOnlyInputsInRaw(call, *op_call.op);
  return planned;
}

}  // namespace opserve::server
