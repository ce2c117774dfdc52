// Sigmoid and SigmoidBackward: schema and inference.
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"

namespace opserve {
namespace {

constexpr std::string_view kBroadcastShape = "any that broadcasts with the other input";

constexpr TensorParam kForwardInputs[] = {{"self", "the input", "any", kFloatDTypes}};
constexpr TensorParam kForwardOutputs[] = {{"out", "the sigmoid of self", "self's", kFloatDTypes}};

constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of Sigmoid's result", kBroadcastShape, kFloatDTypes},
    {"output", "the result of Sigmoid", kBroadcastShape, kFloatDTypes}};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of Sigmoid's input", "the broadcast of both inputs", kFloatDTypes}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"output", GradientInput::Source::kOutput, "out"}};
constexpr GradientOutput kGradientOutputs[] = {{"grad_input", "self"}};

constexpr DTypeSet kHalfAndFloat{DType::kFloat16, DType::kFloat32};
constexpr ProfileSupport kSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes, kHalfAndFloat,
                                     kHalfAndFloat};

bool RunsInPieces(const OpCall& /*call*/) { return true; }

}  // namespace

extern constinit const Operator kSigmoid = {
    .name = "Sigmoid",
    .summary = "The logistic function of each element.",
    .description =
        "out = 1 / (1 + exp(-self))\n"
        "A NaN gives NaN; -inf gives 0, +inf 1.",
    .inputs = kForwardInputs,
    .outputs = kForwardOutputs,
    .support = kSupport,
    .gradient = {.op = "SigmoidBackward", .inputs = kGradientInputs, .outputs = kGradientOutputs},
    .infer = InferElementwise,
    .runs_in_pieces = RunsInPieces,
};

extern constinit const Operator kSigmoidBackward = {
    .name = "SigmoidBackward",
    .summary = "Gradient of Sigmoid, from its result.",
    .description = "grad_input = (grad_output * (1 - output)) * output",
    .inputs = kBackwardInputs,
    .outputs = kBackwardOutputs,
    .support = kSupport,
    .infer = InferElementwise,
    .runs_in_pieces = RunsInPieces,
};

}  // namespace opserve
