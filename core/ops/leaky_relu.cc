// LeakyRelu and LeakyReluBackward: schema.
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve::leaky_relu {
namespace {

constexpr AttributeParam kSlope = Scalar("negative_slope", "factor of what is not positive", 0.01);
constexpr AttributeParam kAttributes[] = {kSlope};
constexpr AttributeParam kBackwardAttributes[] = {
    kSlope,
    {.name = "self_is_result",
     .summary = "whether self is the forward's result",
     .kind = AttributeKind::kBool,
     .default_value = AttributeDefault::Bool(false)}};

// The result tells the sides apart only where the slope is not negative.
absl::Status InferBackward(OpCall& call) {
  if (call.attribute<bool>(1) && call.attribute<double>(0) < 0)
    return InvalidParameter("negative_slope", ">= 0 where self_is_result",
                            absl::StrCat(call.attribute<double>(0)));
  return InferActivation(call);
}

}  // namespace

extern constinit const Operator kLeakyRelu = Activation(
    {.name = "LeakyRelu",
     .summary = "The rectified linear unit with a slope below 0.",
     .description = "out = self where self > 0, negative_slope * self elsewhere\n"
                    "negative_slope is taken as float32.",
     .attributes = kAttributes,
     .gradient = {.op = "LeakyReluBackward", .inputs = kTakesInput, .outputs = kGivesGradOut}});

extern constinit const Operator kLeakyReluBackward = ActivationGradient(
    {.name = "LeakyReluBackward",
     .summary = "Gradient of LeakyRelu.",
     .description = "out = grad_output where self > 0, negative_slope * grad_output elsewhere\n"
                    "self may be the result of the forward, which has the same sign; a negative "
                    "slope with self_is_result is an error. negative_slope is taken as float32.",
     .attributes = kBackwardAttributes,
     .outputs = kGradOut,
     .infer = InferBackward});

}  // namespace opserve::leaky_relu
