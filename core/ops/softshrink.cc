// Softshrink and SoftshrinkBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::softshrink {
namespace {

constexpr AttributeParam kAttributes[] = {
    {.name = "lambd",
     .summary = "half the width of the dead zone, and how far the rest is moved to 0",
     .kind = AttributeKind::kScalar,
     .default_value = AttributeDefault::Float(0.5),
     .range = kNotNegative}};

}  // namespace

extern constinit const Operator kSoftshrink = Activation(
    {.name = "Softshrink",
     .summary = "The input moved to zero, and zero near it.",
     .description = "out = 0 where |self| <= lambd, self - lambd above, self + lambd below\n"
                    "lambd is taken as float32.",
     .attributes = kAttributes,
     .gradient = {.op = "SoftshrinkBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kSoftshrinkBackward = ActivationGradient(
    {.name = "SoftshrinkBackward",
     .summary = "Gradient of Softshrink.",
     .description = "grad_input = 0 where |self| <= lambd, grad_output elsewhere\n"
                    "A NaN self lets the gradient pass, in every position of a tensor. lambd is "
                    "taken as float32.",
     .attributes = kAttributes});

}  // namespace opserve::softshrink
