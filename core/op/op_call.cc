#include "core/op/op_call.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

absl::Status CheckProfile(const OpCall& call) {
  if (!call.supported().empty()) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                    .op = std::string(call.op->name),
                    .parameter = "device",
                    .want = "a device whose profile has the operator",
                    .got = absl::StrCat("profile ", std::string(ProfileName(call.profile)))});
}

absl::Status CheckNothingMissing(const OpCall& call) {
  const Operator& op = *call.op;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (call.outputs[i].origin == OutputSlot::Origin::kMissing &&
        op.outputs[i].presence == Presence::kRequired) {
      return MissingParameter(op.outputs[i].name, "a tensor");
    }
  }
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!call.inputs[i].has_value() && op.inputs[i].presence == Presence::kRequired) {
      return MissingParameter(op.inputs[i].name, "a tensor");
    }
  }
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const AttributeParam& param = op.attributes[i];
    if (!IsGiven(call.attributes[i]) && param.default_value.kind == AttributeDefault::Kind::kNone) {
      return MissingParameter(param.name, AttributeKindInWords(param.kind));
    }
  }
  return absl::OkStatus();
}

absl::Status SettleAttributes(OpCall& call) {
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    const AttributeParam& param = call.op->attributes[i];
    AttributeValue& value = call.attributes[i];
    if (!IsGiven(value)) value = param.default_value.ToValue();
    if (!ConvertAttribute(param.kind, value)) {
      return InvalidParameter(param.name, AttributeKindInWords(param.kind),
                              AttributeInWords(value));
    }
  }
  return absl::OkStatus();
}

// An empty tensor's offset is never followed: 0 is one that every kernel can add to an address.
void DropOffsetOfEmpty(TensorDesc& desc) {
  if (desc.storage_offset != 0 && desc.num_elements() == 0) desc.storage_offset = 0;
}

absl::Status CheckDescs(OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(CheckDesc(*call.inputs[i], call.op->inputs[i].name));
    DropOffsetOfEmpty(*call.inputs[i]);
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].origin != OutputSlot::Origin::kGiven) continue;
    TensorDesc& desc = call.outputs[i].desc;
    OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, call.op->outputs[i].name));
    OPSERVE_RETURN_IF_ERROR(CheckNoSelfOverlap(desc, call.op->outputs[i].name));
    DropOffsetOfEmpty(desc);
  }
  return absl::OkStatus();
}

// The outputs that inference made are tensors, too: their sizes may exceed what their inputs' did.
absl::Status CheckInferred(const OpCall& call) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].origin == OutputSlot::Origin::kGiven) continue;
    OPSERVE_RETURN_IF_ERROR(CheckDesc(call.outputs[i].desc, call.op->outputs[i].name));
  }
  return absl::OkStatus();
}

// Views may repeat elements, so sizes bound no sum; what follows adds them up.
absl::Status CheckTotals(const OpCall& call) {
  const char* want = "sizes that add up to less than 2^63 bytes";
  int64_t bytes = 0;
  for (const std::optional<TensorDesc>& input : call.inputs) {
    if (input.has_value() && __builtin_add_overflow(bytes, input->size_bytes(), &bytes))
      return OutOfRange("inputs", want, "more");
  }
  bytes = 0;
  for (const OutputSlot& output : call.outputs) {
    if (output.wanted && __builtin_add_overflow(bytes, output.desc.size_bytes(), &bytes))
      return OutOfRange("outputs", want, "more");
  }
  return absl::OkStatus();
}

absl::Status CheckAndInfer(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckProfile(call));
  OPSERVE_RETURN_IF_ERROR(CheckNothingMissing(call));
  OPSERVE_RETURN_IF_ERROR(SettleAttributes(call));
  OPSERVE_RETURN_IF_ERROR(CheckDescs(call));
  OPSERVE_RETURN_IF_ERROR(call.op->infer(call));
  OPSERVE_RETURN_IF_ERROR(CheckInferred(call));
  return CheckTotals(call);
}

}  // namespace

bool OpCall::makes_nothing() const {
  return std::none_of(outputs.begin(), outputs.end(), [](const OutputSlot& output) {
    return output.wanted && output.desc.num_elements() > 0;
  });
}

int64_t OpCall::input_bytes() const {
  int64_t bytes = 0;
  for (const std::optional<TensorDesc>& input : inputs)
    bytes += input.has_value() ? input->size_bytes() : 0;
  return bytes;
}

int64_t OpCall::output_bytes() const {
  int64_t bytes = 0;
  for (const OutputSlot& output : outputs) bytes += output.wanted ? output.desc.size_bytes() : 0;
  return bytes;
}

OpCall MakeOpCall(const Operator& op, Profile profile) {
  OpCall call;
  call.op = &op;
  call.profile = profile;
  call.inputs.resize(op.inputs.size());
  call.attributes.resize(op.attributes.size());
  call.outputs.resize(op.outputs.size());
  return call;
}

absl::Status PlanCall(OpCall& call) {
  absl::Status status = CheckAndInfer(call);
  if (status.ok()) return status;
  return WithOperator(std::move(status), call.op->name);
}

}  // namespace opserve
