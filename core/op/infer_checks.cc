#include "core/op/infer_checks.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

absl::Status CheckRank(const TensorDesc& desc, std::string_view parameter) {
  if (desc.rank() <= kMaxRank) return absl::OkStatus();
  return InvalidParameter(parameter, absl::StrCat("rank <= ", kMaxRank),
                          absl::StrCat("rank ", desc.rank()));
}

// Whether tensors of this shape have a size in bytes, whatever their dtype.
bool IsCountable(std::span<const int64_t> shape) {
  constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 8;
  return NumElements(shape).value_or(kMaxElements + 1) <= kMaxElements;
}

std::string_view InputName(const OpCall& call, int input) {
  return call.op->inputs[static_cast<size_t>(input)].name;
}
std::string_view OutputName(const OpCall& call, int output) {
  return call.op->outputs[static_cast<size_t>(output)].name;
}

}  // namespace

absl::Status CheckReduction(const OpCall& call, int attribute) {
  const int64_t reduction = call.attribute<int64_t>(attribute);
  if (reduction >= 0 && reduction <= 2) return absl::OkStatus();
  return InvalidParameter(call.op->attributes[static_cast<size_t>(attribute)].name,
                          "0 (none), 1 (mean) or 2 (sum)", absl::StrCat(reduction));
}

Reduction ReductionOf(const OpCall& call, int attribute) {
  return static_cast<Reduction>(call.attribute<int64_t>(attribute));
}

absl::Status CheckRanks(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].has_value())
      OPSERVE_RETURN_IF_ERROR(CheckRank(*call.inputs[i], call.op->inputs[i].name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].origin != OutputSlot::Origin::kGiven) continue;
    OPSERVE_RETURN_IF_ERROR(CheckRank(call.outputs[i].desc, call.op->outputs[i].name));
  }
  return absl::OkStatus();
}

absl::Status CheckInputSupported(const OpCall& call, int input) {
  const DType dtype = call.input(input).dtype;
  if (call.supported().Contains(dtype)) return absl::OkStatus();
  return InvalidParameter(InputName(call, input), call.supported().ToString(), DTypeName(dtype));
}

absl::Status CheckInputsSupported(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].has_value())
      OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, static_cast<int>(i)));
  }
  return absl::OkStatus();
}

absl::StatusOr<DType> PromoteInputs(const OpCall& call) {
  DType promoted = DType::kUndefined;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const DType dtype = call.inputs[i]->dtype;
    const DType next = promoted == DType::kUndefined ? dtype : PromoteDTypes(promoted, dtype);
    if (next == DType::kUndefined) {
      return InvalidParameter(
          call.op->inputs[i].name,
          absl::StrCat("a dtype that promotes with ", std::string(DTypeName(promoted))),
          DTypeName(dtype));
    }
    promoted = next;
  }
  return promoted;
}

DType OutputDType(const OpCall& call, int output, DType inferred) {
  const OutputSlot& slot = call.output(output);
  if (slot.origin == OutputSlot::Origin::kGiven) return slot.desc.dtype;
  return slot.requested_dtype == DType::kUndefined ? inferred : slot.requested_dtype;
}

absl::Status CheckOutputSupported(const OpCall& call, int output, DType inferred) {
  const DType dtype = OutputDType(call, output, inferred);
  if (call.supported().Contains(dtype)) return absl::OkStatus();
  return InvalidParameter(OutputName(call, output), call.supported().ToString(), DTypeName(dtype));
}

absl::Status CheckOutputCast(const OpCall& call, int output, DType from) {
  const DType to = OutputDType(call, output, from);
  if (CanCast(from, to)) return absl::OkStatus();
  return InvalidParameter(OutputName(call, output),
                          absl::StrCat("a dtype to which ", std::string(DTypeName(from)), " casts"),
                          DTypeName(to));
}

absl::StatusOr<Dims> BroadcastInputs(const OpCall& call) {
  Dims shape;
  bool any = false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const Dims& input = call.inputs[i]->shape;
    if (!any) shape = input;
    if (!std::exchange(any, true) || SameShape(shape, input)) continue;
    std::optional<Dims> next = BroadcastShapes(shape, input);
    if (!next.has_value()) {
      return InvalidParameter(call.op->inputs[i].name,
                              absl::StrCat("a shape that broadcasts with ", ShapeToString(shape)),
                              ShapeToString(input));
    }
    if (!IsCountable(*next)) {
      return InvalidParameter(call.op->inputs[i].name,
                              absl::StrCat("a shape that broadcasts with ", ShapeToString(shape),
                                           " to fewer than 2^60 elements"),
                              ShapeToString(input));
    }
    shape = *std::move(next);
  }
  return shape;
}

absl::Status SettleOutput(OpCall& call, int output, DType inferred,
                          std::span<const int64_t> shape) {
  OutputSlot& slot = call.output(output);
  const bool given = slot.origin == OutputSlot::Origin::kGiven;
  const Dims* asked = given                              ? &slot.desc.shape
                      : slot.requested_shape.has_value() ? &*slot.requested_shape
                                                         : nullptr;
  if (asked != nullptr && !SameShape(*asked, shape)) {
    return InvalidParameter(OutputName(call, output), absl::StrCat("shape ", ShapeToString(shape)),
                            ShapeToString(*asked));
  }
  if (!given) slot.desc = TensorDesc::Dense(OutputDType(call, output, inferred), shape);
  return absl::OkStatus();
}

void MaskOutput(OpCall& call, int output, DType dtype) {
  OutputSlot& slot = call.output(output);
  slot.wanted = false;
  const Dims none = {0};
  if (slot.origin != OutputSlot::Origin::kGiven) slot.desc = TensorDesc::Dense(dtype, none);
}

}  // namespace opserve
