// Softplus and SoftplusBackward: schema.
#include "core/ops/activation_schema.h"

namespace opserve::softplus {
namespace {

constexpr AttributeParam kAttributes[] = {
    Scalar("beta", "steepness of the bend", 1),
    Scalar("threshold", "value of beta * self above which out = self", 20)};

}  // namespace

extern constinit const Operator kSoftplus = Activation(
    {.name = "Softplus",
     .summary = "A smooth rectified linear unit.",
     .description =
         "out = self where beta * self > threshold, log(1 + exp(beta * self)) / beta elsewhere\n"
         "beta and threshold are taken as float32.",
     .attributes = kAttributes,
     .gradient = {.op = "SoftplusBackward", .inputs = kTakesInput, .outputs = kGivesGradInput}});

extern constinit const Operator kSoftplusBackward =
    ActivationGradient({.name = "SoftplusBackward",
                        .summary = "Gradient of Softplus.",
                        .description = "grad_input = grad_output where beta * self > threshold, "
                                       "grad_output * sigmoid(beta * self) elsewhere\n"
                                       "beta and threshold are taken as float32.",
                        .attributes = kAttributes});

}  // namespace opserve::softplus
