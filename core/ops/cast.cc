// Cast: schema.
#include <span>

#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"
#include "core/ops/dtype_schema.h"

namespace opserve::cast {
namespace {

constexpr AttributeParam kAttributes[] = {{.name = "dtype",
                                           .summary = "the dtype of out",
                                           .kind = AttributeKind::kInt,
                                           .choices = std::span(kDTypeChoices).subspan(1),
                                           .c_type = "int32_t"}};

absl::Status Infer(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  const DType dtype = DTypeOfChoice(call.attribute<int64_t>(0));
  if (!call.supported().Contains(dtype))
    return UnsupportedDType("dtype", call.supported().ToString(), DTypeName(dtype));
  if (OutputDType(call, 0, dtype) != dtype)
    return UnsupportedDType("out", DTypeName(dtype), DTypeName(OutputDType(call, 0, dtype)));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  return SettleOutput(call, 0, dtype, call.input(0).shape);
}

}  // namespace

extern constinit const Operator kCast = {
    .name = "Cast",
    .summary = "A tensor in another dtype.",
    .description =
        "out = self, rounded to nearest, to even where two are as near\n"
        "What is larger than all numbers of the dtype becomes an infinity. In C dtype is "
        "an aclDataType.",
    .inputs = kActivationInputs,
    .attributes = kAttributes,
    .outputs = kActivationOutputs,
    .support = kActivationSupport,
    .infer = Infer};

}  // namespace opserve::cast
