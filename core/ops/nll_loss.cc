// NLLLoss, NLLLoss2d and their gradients: schemas and inference.
#include <array>

#include "core/ops/class_schema.h"

namespace opserve::nll_loss {
namespace {

constexpr std::string_view kClassShape = "(C) or (N, C)";
constexpr std::string_view kTargetShape = "self's without C";
constexpr std::string_view kImageShape = "(N, C, H, W)";
constexpr std::string_view kSingleShape = "a single element";
constexpr std::string_view kGradientShape = "target's for reduction none, else a single element";

constexpr AttributeParam kClassAttributes[] = {kReductionAttribute, kIgnoreIndexAttribute};

struct NllShapes {
  std::string_view self;
  std::string_view target;
};
constexpr NllShapes kOfClasses = {kClassShape, kTargetShape};
constexpr NllShapes kOfImages = {kImageShape, "(N, H, W)"};

constexpr TensorParam NllPrediction(const NllShapes& shapes) {
  return {"self", "logarithms of the probabilities of the classes", shapes.self, kFloatDTypes};
}
constexpr TensorParam NllTarget(const NllShapes& shapes) {
  return {"target", "the class of each sample, in [0, C), or ignore_index", shapes.target,
          kClassDTypes};
}
constexpr TensorParam kClassWeight = {"weight", "weight of each class; 1 when not given", "(C)",
                                      kFloatDTypes, Presence::kOptional};

constexpr std::array<TensorParam, 3> NllInputs(const NllShapes& shapes) {
  return {NllPrediction(shapes), NllTarget(shapes), kClassWeight};
}
constexpr std::array<TensorParam, 5> NllGradientInputs(const NllShapes& shapes) {
  return {TensorParam{"grad_output", "gradient of out", kGradientShape, kFloatDTypes},
          NllPrediction(shapes), NllTarget(shapes), kClassWeight,
          TensorParam{"total_weight", "the forward's total_weight", kSingleShape, kFloatDTypes}};
}
constexpr std::array<TensorParam, 3> kNllInputs = NllInputs(kOfClasses);
constexpr std::array<TensorParam, 3> kNll2dInputs = NllInputs(kOfImages);
constexpr std::array<TensorParam, 5> kNllGradientInputs = NllGradientInputs(kOfClasses);
constexpr std::array<TensorParam, 5> kNll2dGradientInputs = NllGradientInputs(kOfImages);

constexpr TensorParam kNllOutputs[] = {
    {"out", "the loss", "target's for reduction none, else a scalar", kFloatDTypes},
    {"total_weight", "sum of the weights of the targets; 0 for reduction none", "a scalar",
     kFloatDTypes}};
constexpr TensorParam kNllGradientOutputs[] = {{"out", "gradient of self", "self's", kFloatDTypes}};

constexpr GradientInput kNllTakes[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"},
    {"target", GradientInput::Source::kInput, "target"},
    {"weight", GradientInput::Source::kInput, "weight"},
    {"total_weight", GradientInput::Source::kOutput, "total_weight"}};

constexpr std::string_view kNllGradientOrder[] = {
    "grad_output", "self", "target", "weight", "reduction", "ignore_index", "total_weight", "out"};

// What `self` must be, of input `self` of the forward or its gradient.
absl::Status CheckNllRank(const OpCall& call, int self) {
  const Dims& shape = call.input(self).shape;
  const bool images = call.op->inputs[static_cast<size_t>(self)].shape == kImageShape;
  const bool fits = images ? shape.size() == 4 : shape.size() == 1 || shape.size() == 2;
  if (fits) return absl::OkStatus();
  return ShapeMismatch("self",
                       absl::StrCat("shape ", std::string(images ? kImageShape : kClassShape)),
                       ShapeToString(shape));
}

// Dtypes, attributes and shapes; the target's shape. `self` is where the inputs of the forward
// begin.
absl::StatusOr<Dims> CheckNll(const OpCall& call, int self) {
  const int target = self + 1;
  OPSERVE_RETURN_IF_ERROR(CheckOneDType(call, self, std::span(&target, 1)));
  OPSERVE_RETURN_IF_ERROR(CheckClassDType(call, target));
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  OPSERVE_RETURN_IF_ERROR(CheckNllRank(call, self));
  Dims samples = call.input(self).shape;
  const size_t dim = samples.size() == 1 ? 0 : 1;
  const int64_t classes = samples[dim];
  samples.erase(samples.begin() + static_cast<int64_t>(dim));
  OPSERVE_RETURN_IF_ERROR(CheckInputShape(call, target, samples));
  OPSERVE_RETURN_IF_ERROR(CheckInputShape(call, target + 1, std::span(&classes, 1)));
  return samples;
}

absl::Status InferNllLoss(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const Dims samples, CheckNll(call, 0));
  const DType dtype = call.input(0).dtype;
  const bool reduced = ReductionOf(call, 0) != Reduction::kNone;
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 0, dtype, reduced ? Dims() : samples));
  return SettleOutput(call, 1, dtype, Dims());
}

absl::Status InferNllLossGradient(OpCall& call) {
  OPSERVE_ASSIGN_OR_RETURN(const Dims samples, CheckNll(call, 1));
  if (ReductionOf(call, 0) == Reduction::kNone) {
    OPSERVE_RETURN_IF_ERROR(CheckInputShape(call, 0, samples));
  } else {
    OPSERVE_RETURN_IF_ERROR(CheckSingle(call, 0));
  }
  OPSERVE_RETURN_IF_ERROR(CheckSingle(call, 4));
  return SettleOutput(call, 0, call.input(1).dtype, call.input(1).shape);
}

// A number of each sample is fetched from somewhere, with its weight.
int64_t NllOperations(const OpCall& call) { return 2 * call.input(1).num_elements(); }

constexpr Operator NllLoss(std::string_view name, std::string_view summary,
                           std::span<const TensorParam> inputs, std::string_view gradient) {
  return {
      .name = name,
      .summary = summary,
      .description =
          "loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is "
          "ignore_index\n"
          "reduction none gives the loss of each sample, sum their sum, mean their sum over the "
          "sum of their weights: NaN where no target counts. total_weight is that sum, "
          "and 0 for reduction none.\n"
          "A target that is no class and not ignore_index is an error, and nothing is written.",
      .inputs = inputs,
      .attributes = kClassAttributes,
      .outputs = kNllOutputs,
      .support = kLossSupport,
      .gradient = {.op = gradient, .inputs = kNllTakes, .outputs = kGivesGradientOfPrediction},
      .infer = InferNllLoss,
      .operations = NllOperations};
}

constexpr Operator NllLossGradient(std::string_view name, std::string_view summary,
                                   std::span<const TensorParam> inputs) {
  return {.name = name,
          .summary = summary,
          .description =
              "out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by "
              "total_weight for reduction mean; 0 of all other classes, and where t is "
              "ignore_index\n"
              "A target that is no class and not ignore_index is an error, and nothing is written.",
          .inputs = inputs,
          .attributes = kClassAttributes,
          .outputs = kNllGradientOutputs,
          .support = kLossSupport,
          .c_order = kNllGradientOrder,
          .infer = InferNllLossGradient};
}

}  // namespace

extern constinit const Operator kNLLLoss = NllLoss(
    "NLLLoss", "Negative log likelihood of the classes in target.", kNllInputs, "NLLLossBackward");
extern constinit const Operator kNLLLossBackward = NllLossGradient(
    "NLLLossBackward", "Gradient of NLLLoss with respect to self.", kNllGradientInputs);
extern constinit const Operator kNLLLoss2d =
    NllLoss("NLLLoss2d", "Negative log likelihood of the class of each pixel.", kNll2dInputs,
            "NLLLoss2dBackward");
extern constinit const Operator kNLLLoss2dBackward = NllLossGradient(
    "NLLLoss2dBackward", "Gradient of NLLLoss2d with respect to self.", kNll2dGradientInputs);

}  // namespace opserve::nll_loss
