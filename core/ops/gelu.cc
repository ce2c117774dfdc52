// Gelu, GeluV2, GeluBackward and GeluBackwardV2: schema.
#include "core/ops/activation_schema.h"

namespace opserve::gelu {
namespace {

constexpr AttributeChoice kForms[] = {{0, "none", "by the normal distribution function"},
                                      {1, "tanh", "by the hyperbolic tangent"}};
constexpr AttributeParam kApproximate = {.name = "approximate",
                                         .summary = "how the distribution function is computed",
                                         .kind = AttributeKind::kInt,
                                         .default_value = AttributeDefault::Int(0),
                                         .choices = kForms};
constexpr AttributeParam kAttributes[] = {kApproximate};
// By name in the C interface.
constexpr AttributeParam NamedInC(AttributeParam param) {
  param.c_type = "const char*";
  return param;
}
constexpr AttributeParam kBackwardAttributes[] = {NamedInC(kApproximate)};

}  // namespace

extern constinit const Operator kGelu = Activation(
    {.name = "Gelu",
     .summary = "The Gaussian error linear unit.",
     .description = "out = self * P(self), P the standard normal distribution function\n"
                    "-inf gives NaN.",
     .gradient = {.op = "GeluBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kGeluBackward = ActivationGradient(
    {.name = "GeluBackward",
     .summary = "Gradient of Gelu.",
     .description = "grad_input = grad_output * (P(self) + self * p(self)), P the standard normal "
                    "distribution function and p its density\n"
                    "An infinite self gives NaN."});

extern constinit const Operator kGeluV2 = Activation(
    {.name = "GeluV2",
     .summary = "The Gaussian error linear unit, exact or by tanh.",
     .description = "With approximate none out = self * P(self), P the standard normal "
                    "distribution function.\n"
                    "With approximate tanh out = self * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 "
                    "* self^3))) / 2.",
     .attributes = kAttributes,
     .gradient = {.op = "GeluBackwardV2", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kGeluBackwardV2 =
    ActivationGradient({.name = "GeluBackwardV2",
                        .summary = "Gradient of GeluV2.",
                        .description = "grad_output times the derivative of what GeluV2 computes "
                                       "with the same approximate. An infinite self gives NaN.",
                        .attributes = kBackwardAttributes});

}  // namespace opserve::gelu
