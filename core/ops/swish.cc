// Swish and SwishBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::swish {
namespace {

constexpr AttributeParam kAttributes[] = {{.name = "beta",
                                           .summary = "factor of self inside the sigmoid",
                                           .kind = AttributeKind::kScalar,
                                           .default_value = AttributeDefault::Float(1.0),
                                           .c_optional = true}};

}  // namespace

extern constinit const Operator kSwish = Activation(
    {.name = "Swish",
     .summary = "Each element times the sigmoid of its multiple.",
     .description = "out = self * sigmoid(beta * self)\n"
                    "beta is taken as float32.",
     .attributes = kAttributes,
     .gradient = {.op = "SwishBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kSwishBackward =
    ActivationGradient({.name = "SwishBackward",
                        .summary = "Gradient of Swish.",
                        .description = "z = beta * self, s = sigmoid(z)\n"
                                       "grad_input = grad_output * (s + z * s * (1 - s))\n"
                                       "beta is taken as float32.",
                        .attributes = kAttributes});

}  // namespace opserve::swish
