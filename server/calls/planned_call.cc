#include "server/calls/planned_call.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "server/codec/raw_writer.h"

namespace opserve::server {
namespace {

// Raw entries that are attributes are part of the plan.
bool HasOnlyInputsInRaw(const v1::Call& call, const Operator& op) {
  for (const v1::Tensor& tensor : call.inputs()) {
    if (tensor.has_raw_index() && op.FindInput(tensor.name()) < 0) return false;
  }
  return true;
}

bool HasShared(const v1::Call& call) {
  const auto is_shared = [](const v1::Tensor& tensor) { return tensor.has_shared(); };
  return std::any_of(call.inputs().begin(), call.inputs().end(), is_shared) ||
         std::any_of(call.outputs().begin(), call.outputs().end(), is_shared);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PlannedCall>> PlannedCall::Make(
    const Engine& engine, const v1::Call& call, std::span<const Fragments> raw,
    v1::TensorEncoding encoding, TensorData data, std::string_view device) {
  return MakeOf(engine, call, raw, encoding, data, device);
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> PlannedCall::MakeInfer(
    const Engine& engine, const DecodedInfer& decoded, std::span<const Fragments> raw) {
  OPSERVE_ASSIGN_OR_RETURN(
      const std::shared_ptr<PlannedCall> planned,
      MakeOf(engine, decoded.call, raw, v1::TENSOR_ENCODING_RAW, TensorData::kMessage, {}));
  planned->infer_form_.emplace(planned->plan_->call, decoded.call.outputs(), decoded.timeout);
  return planned;
}

absl::StatusOr<std::shared_ptr<PlannedCall>> PlannedCall::MakeOf(
    const Engine& engine, const v1::Call& call, std::span<const Fragments> raw,
    v1::TensorEncoding encoding, TensorData data, std::string_view device) {
  OPSERVE_ASSIGN_OR_RETURN(NamedCall named, DecodeCall(call, data, raw));
  if (named.device.empty()) named.device = device;
  const std::shared_ptr<PlannedCall> planned(new PlannedCall());
  OPSERVE_ASSIGN_OR_RETURN(planned->plan_, engine.MakePlan(named));
  OPSERVE_ASSIGN_OR_RETURN(CallStorages storages, DecodeStorages(call, {raw.begin(), raw.end()}));
  planned->values_.assign(storages.fragments.begin() + static_cast<std::ptrdiff_t>(raw.size()),
                          storages.fragments.end());
  planned->value_bytes_ = std::move(storages.values);
  if (HasShared(call)) planned->sharing_ = std::make_unique<const v1::Call>(call);
  const OpCall& op_call = planned->plan_->call;
  ResultOptions options{.encoding = encoding};
  if (call.report_execution()) options.reported_device = planned->plan_->device->info().name;
  planned->form_ = ResultForm(op_call, planned->sharing_.get(), std::move(options));
  OPSERVE_RETURN_IF_ERROR(CheckValues(op_call, planned->form_.values_bytes()));
  planned->is_shareable_ = HasOnlyInputsInRaw(call, *op_call.op);
  planned->is_serial_ = planned->is_shareable_ && planned->sharing_ == nullptr &&
                        planned->values_.empty() && planned->form_.is_raw() &&
                        RunsInline(*planned->plan_) &&
                        op_call.output_bytes() <= static_cast<int64_t>(kCopiedBytes);
  return planned;
}

absl::Status PlannedCall::Assemble(std::vector<Fragments> raw, const RegionTable* regions,
                                   OneShot& shot, HeldRegions& held) const {
  shot.plan = plan_;
  shot.storages = std::move(raw);
  shot.storages.insert(shot.storages.end(), values_.begin(), values_.end());
  if (sharing_ == nullptr) return absl::OkStatus();
  return AddSharedStorages(*sharing_, regions, shot, held);
}

}  // namespace opserve::server
