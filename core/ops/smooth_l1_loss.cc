// SmoothL1Loss and SmoothL1LossBackward: schema and inference.
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/ops/loss_schema.h"

namespace opserve::smooth_l1_loss {
namespace {

constexpr int kReduction = 0;
constexpr int kBeta = 1;

constexpr TensorParam kSelf = {"self", "the prediction", kBroadcastShape, kFloatDTypes};
constexpr TensorParam kTarget = {"target", "the truth", kBroadcastShape, kFloatDTypes};
constexpr AttributeParam kAttributes[] = {
    kReductionAttribute,
    {.name = "beta",
     .summary = "where the loss turns from quadratic to linear; may be infinite",
     .kind = AttributeKind::kFloat,
     .default_value = AttributeDefault::Float(1.0),
     .range = kNotNegative,
     .c_type = "float"}};

constexpr TensorParam kForwardInputs[] = {kSelf, kTarget};
constexpr TensorParam kForwardOutputs[] = {{"result", "the loss", kReducedShape, kFloatDTypes}};

constexpr TensorParam kBackwardInputs[] = {
    {"grad_out", "gradient of the loss's result; a scalar for mean and sum", kBroadcastShape,
     kFloatDTypes},
    kSelf,
    kTarget};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of self", kBroadcastResult, kFloatDTypes}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_out", GradientInput::Source::kOutputGradient, "result"},
    {"self", GradientInput::Source::kInput, "self"},
    {"target", GradientInput::Source::kInput, "target"}};
constexpr GradientOutput kGradientOutputs[] = {{"grad_input", "self"}};

// dtypes, rank, reduction, beta, promotion; the broadcast shape.
absl::StatusOr<Dims> CheckLoss(const OpCall& call, DType* promoted) {
  OPSERVE_RETURN_IF_ERROR(CheckInputsSupported(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, 0, call.input(0).dtype));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, kReduction));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, kBeta));
  OPSERVE_ASSIGN_OR_RETURN(*promoted, PromoteInputs(call));
  return BroadcastInputs(call);
}

absl::Status InferForward(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckLoss(call, &promoted));
  return SettleOutput(call, 0, promoted,
                      ReductionOf(call, kReduction) == Reduction::kNone ? shape : Dims());
}

absl::Status InferBackward(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckLoss(call, &promoted));
  return SettleOutput(call, 0, promoted, shape);
}

}  // namespace

extern constinit const Operator kSmoothL1Loss = {
    .name = "SmoothL1Loss",
    .summary = "Huber-like loss: quadratic near zero, linear beyond beta.",
    .description =
        "x = self - target\n"
        "loss = 0.5 * x * x / beta where |x| < beta, |x| - 0.5 * beta elsewhere\n"
        "reduction none gives the loss of each element, mean their mean, sum their sum. An empty "
        "tensor has mean NaN and sum 0. "
        "beta = 0 is L1Loss.",
    .inputs = kForwardInputs,
    .attributes = kAttributes,
    .outputs = kForwardOutputs,
    .support = kLossSupport,
    .gradient = {.op = "SmoothL1LossBackward",
                 .inputs = kGradientInputs,
                 .outputs = kGradientOutputs},
    .infer = InferForward,
    .runs_in_pieces = LossRunsInPieces,
    .operations = LossOperations,
};

extern constinit const Operator kSmoothL1LossBackward = {
    .name = "SmoothL1LossBackward",
    .summary = "Gradient of SmoothL1Loss with respect to self.",
    .description =
        "x = self - target\n"
        "grad_input = s * (grad_out * k), s = -1 where x <= -beta, +1 where x >= beta, x / beta "
        "between\n"
        "k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and "
        "sum. A NaN x gives NaN.\n"
        "beta = 0 is exactly L1LossBackward: sign(0) = sign(NaN) = 0, where PyTorch gives -grad "
        "and NaN. Unlike PyTorch, n "
        "counts the elements after broadcasting.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kLossSupport,
    .infer = InferBackward,
    .runs_in_pieces = LossBackwardRunsInPieces,
};

}  // namespace opserve::smooth_l1_loss
