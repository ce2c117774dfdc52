// Elu and EluBackward: schema.
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/ops/activation_schema.h"

namespace opserve::elu {
namespace {

constexpr AttributeParam kAlpha =
    Scalar("alpha", "what the result tends to below 0, before scale; its negative", 1);
constexpr AttributeParam kScale = Scalar("scale", "factor of the result", 1);
constexpr AttributeParam kInputScale =
    Scalar("input_scale", "factor of self in the exponential", 1);
constexpr AttributeParam kAttributes[] = {kAlpha, kScale, kInputScale};
constexpr AttributeParam kBackwardAttributes[] = {
    kAlpha,
    kScale,
    kInputScale,
    {.name = "is_result",
     .summary = "whether self_or_result is the forward's result",
     .kind = AttributeKind::kBool,
     .default_value = AttributeDefault::Bool(false)}};
constexpr TensorParam kBackwardInputs[] = {
    kResultGradient,
    {"self_or_result", "the forward's input, or its result where is_result", kBroadcastOfTwo,
     kFloatDTypes}};
constexpr std::string_view kOrder[] = {"grad_output", "alpha",          "scale",     "input_scale",
                                       "is_result",   "self_or_result", "grad_input"};
constexpr GradientInput kTakes[] = {{"grad_output", GradientInput::Source::kOutputGradient, "out"},
                                    {"self_or_result", GradientInput::Source::kInput, "self"}};

// The result tells the sides apart only where alpha is not negative.
absl::Status InferBackward(OpCall& call) {
  if (call.attribute<bool>(3) && call.attribute<double>(0) < 0)
    return InvalidParameter("alpha", ">= 0 where is_result",
                            absl::StrCat(call.attribute<double>(0)));
  return InferActivation(call);
}

}  // namespace

extern constinit const Operator kElu =
    Activation({.name = "Elu",
                .summary = "The exponential linear unit.",
                .description = "out = scale * self where self > 0, scale * alpha * "
                               "(exp(input_scale * self) - 1) elsewhere\n"
                               "alpha, scale and input_scale are taken as float32.",
                .attributes = kAttributes,
                .gradient = {.op = "EluBackward", .inputs = kTakes, .outputs = kGivesGradInput}});

extern constinit const Operator kEluBackward = ActivationGradient(
    {.name = "EluBackward",
     .summary = "Gradient of Elu, from its input or from its result.",
     .description =
         "With x = self_or_result: where x > 0 grad_input = grad_output * scale. Elsewhere "
         "grad_input = grad_output * scale * alpha * input_scale * exp(input_scale * x), or with "
         "is_result grad_output * input_scale * (x + scale * alpha).\n"
         "alpha < 0 with is_result is an error. A NaN x gives NaN in every position of a tensor. "
         "alpha, scale and input_scale are taken as float32.",
     .inputs = kBackwardInputs,
     .attributes = kBackwardAttributes,
     .c_order = kOrder,
     .infer = InferBackward});

}  // namespace opserve::elu
