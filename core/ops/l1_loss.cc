// L1Loss and L1LossBackward: schema and inference.
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/ops/loss_schema.h"

namespace opserve::l1_loss {
namespace {

// On the host an integer or bool input may stand beside a float one.
constexpr DTypeSet kInputDTypes = kFloatDTypes.Union(DTypeSet{
    DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUint8, DType::kBool});

constexpr TensorParam kSelf = {"self", "the prediction", kBroadcastShape, kInputDTypes};
constexpr TensorParam kTarget = {"target", "the truth", kBroadcastShape, kInputDTypes};
constexpr AttributeParam kAttributes[] = {kReductionAttribute};

constexpr TensorParam kForwardInputs[] = {kSelf, kTarget};
constexpr TensorParam kForwardOutputs[] = {{"out", "the loss", kReducedShape, kFloatDTypes}};

constexpr TensorParam kBackwardInputs[] = {
    {"grad_output", "gradient of the loss's result; a scalar for mean and sum", kBroadcastShape,
     kInputDTypes},
    kSelf,
    kTarget};
constexpr TensorParam kBackwardOutputs[] = {
    {"grad_input", "gradient of self", kBroadcastResult, kFloatDTypes}};

constexpr GradientInput kGradientInputs[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"},
    {"target", GradientInput::Source::kInput, "target"}};
constexpr GradientOutput kGradientOutputs[] = {{"grad_input", "self"}};

// Products accept no integers; the host does beside a float.
absl::Status CheckInputsOnProduct(const OpCall& call) {
  return call.profile == Profile::kHost ? absl::OkStatus() : CheckInputsSupported(call);
}

absl::Status CheckPromoted(const OpCall& call, DType promoted) {
  if (call.supported().Contains(promoted)) return absl::OkStatus();
  return UnsupportedDType(call.op->inputs[0].name,
                          std::string("inputs that promote to ") + call.supported().ToString(),
                          DTypeName(promoted));
}

// reduction, promotion, cast, support list, rank; the broadcast shape.
absl::StatusOr<Dims> CheckLoss(const OpCall& call, DType* promoted) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_ASSIGN_OR_RETURN(*promoted, PromoteInputs(call));
  OPSERVE_RETURN_IF_ERROR(CheckOutputCast(call, 0, *promoted));
  OPSERVE_RETURN_IF_ERROR(CheckInputsOnProduct(call));
  OPSERVE_RETURN_IF_ERROR(CheckPromoted(call, *promoted));
  OPSERVE_RETURN_IF_ERROR(CheckOutputSupported(call, 0, *promoted));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  return BroadcastInputs(call);
}

absl::Status InferForward(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckLoss(call, &promoted));
  return SettleOutput(call, 0, promoted, ReductionOf(call, 0) == Reduction::kNone ? shape : Dims());
}

absl::Status InferBackward(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckLoss(call, &promoted));
  return SettleOutput(call, 0, promoted, shape);
}

}  // namespace

extern constinit const Operator kL1Loss = {
    .name = "L1Loss",
    .summary = "Mean absolute error of self against target.",
    .description =
        "loss = |self - target|\n"
        "reduction none gives the loss of each element, mean their mean, sum their sum. An empty "
        "tensor has mean NaN and sum 0.\n"
        "Integers and bools are taken only beside a floating input.",
    .inputs = kForwardInputs,
    .attributes = kAttributes,
    .outputs = kForwardOutputs,
    .support = kLossSupport,
    .gradient = {.op = "L1LossBackward", .inputs = kGradientInputs, .outputs = kGradientOutputs},
    .infer = InferForward,
    .runs_in_pieces = LossRunsInPieces,
    .operations = LossOperations,
};

extern constinit const Operator kL1LossBackward = {
    .name = "L1LossBackward",
    .summary = "Gradient of L1Loss with respect to self.",
    .description =
        "grad_input = sign(self - target) * (grad_output * k)\n"
        "sign(0) = 0 and sign(NaN) = 0. k = 1/n for reduction mean, n the number of elements of "
        "grad_input; k = 1 for none and "
        "sum.\n"
        "Unlike PyTorch, n counts the elements after broadcasting.\n"
        "Integers and bools are taken only beside a floating input.",
    .inputs = kBackwardInputs,
    .attributes = kAttributes,
    .outputs = kBackwardOutputs,
    .support = kLossSupport,
    .infer = InferBackward,
    .runs_in_pieces = LossBackwardRunsInPieces,
};

}  // namespace opserve::l1_loss
