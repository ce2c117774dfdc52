// Cast: schema.
#include <iterator>

#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve {
namespace {

// By the numbers that aclDataType has for them.
constexpr AttributeChoice kDTypes[] = {{0, "float32", "single precision"},
                                       {1, "float16", "IEEE half precision"},
                                       {27, "bfloat16", "float32's exponent, 8 bits of precision"}};
constexpr DType kDTypesOfChoices[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr AttributeParam kAttributes[] = {{.name = "dtype",
                                           .summary = "the dtype of out",
                                           .kind = AttributeKind::kInt,
                                           .choices = kDTypes,
                                           .c_type = "int32_t"}};

absl::Status Infer(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  DType dtype = DType::kUndefined;
  for (size_t i = 0; i < std::size(kDTypes); ++i) {
    if (kDTypes[i].value == call.attribute<int64_t>(0)) dtype = kDTypesOfChoices[i];
  }
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

}  // namespace opserve
