#include "core/op/infer_checks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// "self and target": of the given inputs in [begin, end) that `is_meant` takes.
std::string JoinedNames(const OpCall& call, size_t begin, size_t end,
                        absl::FunctionRef<bool(const TensorDesc&)> is_meant) {
  std::string names;
  for (size_t i = begin; i < end; ++i) {
    if (!call.inputs[i].has_value() || !is_meant(*call.inputs[i])) continue;
    absl::StrAppend(&names, names.empty() ? "" : " and ", std::string(call.op->inputs[i].name));
  }
  return names;
}

// What the inputs before `input` broadcast to, in an error's words.
std::string BroadcastOfFormer(const OpCall& call, size_t input, const Dims& shape) {
  return absl::StrCat(ShapeToString(shape), " (",
                      JoinedNames(call, 0, input, [](const TensorDesc&) { return true; }), ")");
}

absl::Status CheckRank(const TensorDesc& desc, std::string_view parameter) {
  if (desc.rank() <= kMaxRank) return absl::OkStatus();
  return ShapeMismatch(parameter, absl::StrCat("rank <= ", kMaxRank),
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

// Of an attribute's value, once it is of its kind.
struct AttributeCheck {
  const AttributeParam& param;

  absl::Status operator()(int64_t number) const {
    const auto is_it = [number](const AttributeChoice& choice) { return choice.value == number; };
    if (!param.choices.empty() && std::none_of(param.choices.begin(), param.choices.end(), is_it)) {
      return OutOfRange(param.name, ChoicesInWords(param.choices), absl::StrCat(number));
    }
    return CheckNumber(number);
  }
  absl::Status operator()(double number) const { return CheckNumber(number); }
  absl::Status operator()(const std::vector<int64_t>& list) const {
    return CheckList(list, "ints");
  }
  absl::Status operator()(const std::vector<bool>& list) const { return CheckList(list, "bools"); }
  absl::Status operator()(const std::vector<double>& list) const {
    return CheckList(list, "floats");
  }
  // Of none of these there is more to say.
  absl::Status operator()(bool) const { return absl::OkStatus(); }
  absl::Status operator()(const std::string&) const { return absl::OkStatus(); }
  absl::Status operator()(std::monostate) const { return absl::OkStatus(); }

 private:
  bool IsInRange(double number) const {
    return !param.range.has_value() || param.range->Contains(number);
  }

  template <typename Number>
  absl::Status CheckNumber(Number number) const {
    if (IsInRange(static_cast<double>(number))) return absl::OkStatus();
    return OutOfRange(param.name, RangeInWords(*param.range), absl::StrCat(number));
  }

  template <typename List>
  absl::Status CheckList(const List& list, const char* kind) const {
    if (param.list_length != 0 && list.size() != static_cast<size_t>(param.list_length)) {
      return InvalidParameter(param.name, absl::StrCat(param.list_length, " ", kind),
                              absl::StrCat(list.size(), " ", kind));
    }
    for (size_t i = 0; i < list.size(); ++i) {
      if (IsInRange(static_cast<double>(list[i]))) continue;
      return OutOfRange(param.name, RangeInWords(*param.range), absl::StrCat(list[i], " at ", i));
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::Status CheckAttribute(const OpCall& call, int attribute) {
  const AttributeParam& param = call.op->attributes[static_cast<size_t>(attribute)];
  return std::visit(AttributeCheck{param}, call.attributes[static_cast<size_t>(attribute)]);
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
  return UnsupportedDType(InputName(call, input), call.supported().ToString(), DTypeName(dtype));
}

absl::Status CheckInputsSupported(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const DType dtype = call.inputs[i]->dtype;
    if (call.supported().Contains(dtype)) continue;
    const std::string others =
        JoinedNames(call, i + 1, call.inputs.size(),
                    [dtype](const TensorDesc& input) { return input.dtype == dtype; });
    return UnsupportedDType(
        call.op->inputs[i].name, call.supported().ToString(),
        absl::StrCat(std::string(DTypeName(dtype)), others.empty() ? "" : ", like ", others));
  }
  return absl::OkStatus();
}

absl::Status CheckOneDType(const OpCall& call, int leading, std::span<const int> except) {
  OPSERVE_RETURN_IF_ERROR(CheckInputSupported(call, leading));
  const DType dtype = call.input(leading).dtype;
  const auto check = [&](std::string_view name, DType got) {
    if (got == dtype) return absl::OkStatus();
    return UnsupportedDType(name,
                            absl::StrCat("the dtype of ", std::string(InputName(call, leading)),
                                         ", ", std::string(DTypeName(dtype))),
                            DTypeName(got));
  };
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    if (!call.has_input(i) || std::count(except.begin(), except.end(), i) != 0) continue;
    OPSERVE_RETURN_IF_ERROR(check(InputName(call, i), call.input(i).dtype));
  }
  for (int i = 0; i < static_cast<int>(call.outputs.size()); ++i)
    OPSERVE_RETURN_IF_ERROR(check(OutputName(call, i), OutputDType(call, i, dtype)));
  return absl::OkStatus();
}

absl::StatusOr<DType> PromoteInputs(const OpCall& call) {
  DType promoted = DType::kUndefined;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const DType dtype = call.inputs[i]->dtype;
    const DType next = promoted == DType::kUndefined ? dtype : PromoteDTypes(promoted, dtype);
    if (next == DType::kUndefined) {
      return UnsupportedDType(
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
  return UnsupportedDType(OutputName(call, output), call.supported().ToString(), DTypeName(dtype));
}

absl::Status CheckOutputCast(const OpCall& call, int output, DType from) {
  const DType to = OutputDType(call, output, from);
  if (CanCast(from, to)) return absl::OkStatus();
  return UnsupportedDType(OutputName(call, output),
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
      return ShapeMismatch(
          call.op->inputs[i].name,
          absl::StrCat("a shape that broadcasts with ", BroadcastOfFormer(call, i, shape)),
          ShapeToString(input));
    }
    if (!IsCountable(*next)) {
      return ShapeMismatch(call.op->inputs[i].name,
                           absl::StrCat("a shape that broadcasts to fewer than 2^60 elements with ",
                                        BroadcastOfFormer(call, i, shape)),
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
    return ShapeMismatch(OutputName(call, output), absl::StrCat("shape ", ShapeToString(shape)),
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

absl::StatusOr<DType> CheckElementwise(const OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, 0, call.input(0).dtype));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, PromoteInputs(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputCast(call, 0, promoted));
  return promoted;
}

absl::Status InferElementwise(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const DType promoted, CheckElementwise(call));
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, BroadcastInputs(call));
  return SettleOutput(call, 0, promoted, shape);
}

}  // namespace opserve
