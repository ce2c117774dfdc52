// CrossEntropyLoss and CrossEntropyLossGrad: schemas and inference.
#include "core/ops/class_schema.h"

namespace opserve::cross_entropy_loss {
namespace {

constexpr DTypeSet kOnlyFloat{DType::kFloat32};

// Attributes.
constexpr int kReductionAt = 0;
constexpr int kReturnZlossAt = 4;

constexpr AttributeParam NamedReduction() {
  AttributeParam param = kReductionAttribute;
  param.c_type = "const char*";
  param.c_optional = true;
  return param;
}
constexpr AttributeParam kSmoothing = {
    .name = "label_smoothing",
    .summary = "the share of a sample's weight that all classes have alike",
    .kind = AttributeKind::kFloat,
    .default_value = AttributeDefault::Float(0),
    .range = AttributeRange{.minimum = 0, .maximum = 1}};
constexpr AttributeParam kZlossScale = {.name = "lse_square_scale_for_zloss",
                                        .summary = "must be 0: there is no z-loss",
                                        .kind = AttributeKind::kFloat,
                                        .default_value = AttributeDefault::Float(0),
                                        .range = AttributeRange{.minimum = 0, .maximum = 0}};
constexpr AttributeParam kEntropyAttributes[] = {NamedReduction(),
                                                 kIgnoreIndexAttribute,
                                                 kSmoothing,
                                                 kZlossScale,
                                                 {.name = "return_zloss",
                                                  .summary = "must be false: there is no z-loss",
                                                  .kind = AttributeKind::kBool,
                                                  .default_value = AttributeDefault::Bool(false)}};
constexpr AttributeParam kEntropyGradAttributes[] = {NamedReduction(), kIgnoreIndexAttribute,
                                                     kSmoothing, kZlossScale};

constexpr TensorParam kEntropyTarget = {
    "target", "the class of each sample, in [0, C), or ignore_index", "(N)", kClassDTypes};
constexpr TensorParam kEntropyWeight = {"weight", "weight of each class; 1 when not given", "(C)",
                                        kOnlyFloat, Presence::kOptional};
constexpr TensorParam kEntropyInputs[] = {
    {"self", "a number of each class of each sample", "(N, C)", kFloatDTypes},
    kEntropyTarget,
    kEntropyWeight};
constexpr TensorParam kEntropyOutputs[] = {
    {"loss", "the loss", "(N) for reduction none, else a scalar", kFloatDTypes},
    {"log_prob", "logarithms of the probabilities of the classes", "(N, C)", kFloatDTypes},
    {"zloss", "not computed", "(0)", kFloatDTypes, Presence::kOptional},
    {"lse_for_zloss", "not computed", "(0)", kFloatDTypes, Presence::kOptional}};
constexpr TensorParam kEntropyGradInputs[] = {
    {"grad_loss", "gradient of loss", "(N) for reduction none, else a single element",
     kFloatDTypes},
    {"log_prob", "the forward's log_prob", "(N, C)", kFloatDTypes},
    kEntropyTarget,
    kEntropyWeight,
    {"grad_zloss", "must be left out: there is no z-loss", "none", kFloatDTypes,
     Presence::kOptional},
    {"lse_for_zloss", "must be left out: there is no z-loss", "none", kFloatDTypes,
     Presence::kOptional}};
constexpr TensorParam kEntropyGradOutputs[] = {{"out", "gradient of self", "(N, C)", kFloatDTypes}};

constexpr GradientInput kEntropyTakes[] = {
    {"grad_loss", GradientInput::Source::kOutputGradient, "loss"},
    {"log_prob", GradientInput::Source::kOutput, "log_prob"},
    {"target", GradientInput::Source::kInput, "target"},
    {"weight", GradientInput::Source::kInput, "weight"}};

absl::Status CheckNoZloss(const OpCall& call, int input) {
  if (!call.has_input(input)) return absl::OkStatus();
  return InvalidParameter(call.op->inputs[static_cast<size_t>(input)].name,
                          "none, as there is no z-loss", "a tensor");
}

// Dtypes, attributes and shapes of the numbers of the classes at input `self`, the target and the
// weights.
absl::Status CheckEntropy(const OpCall& call, int self) {
  const int others[] = {self + 1, self + 2};
  OPSERVE_RETURN_IF_ERROR(CheckOneDType(call, self, others));
  OPSERVE_RETURN_IF_ERROR(CheckClassDType(call, self + 1));
  if (call.has_input(self + 2) && call.input(self + 2).dtype != DType::kFloat32)
    return UnsupportedDType("weight", DTypeName(DType::kFloat32),
                            DTypeName(call.input(self + 2).dtype));
  for (size_t i = 0; i < call.attributes.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(i)));
  OPSERVE_RETURN_IF_ERROR(CheckRanks(call));
  const Dims& shape = call.input(self).shape;
  if (shape.size() != 2) {
    return ShapeMismatch(call.op->inputs[static_cast<size_t>(self)].name, "shape (N, C)",
                         ShapeToString(shape));
  }
  OPSERVE_RETURN_IF_ERROR(CheckInputShape(call, self + 1, std::span(&shape[0], 1)));
  return CheckInputShape(call, self + 2, std::span(&shape[1], 1));
}

absl::Status InferCrossEntropy(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckEntropy(call, 0));
  if (call.attribute<bool>(kReturnZlossAt))
    return InvalidParameter("return_zloss", "false, as there is no z-loss", "true");
  const TensorDesc& self = call.input(0);
  const bool reduced = ReductionOf(call, kReductionAt) != Reduction::kNone;
  OPSERVE_RETURN_IF_ERROR(
      SettleOutput(call, 0, self.dtype, std::span(&self.shape[0], reduced ? 0 : 1)));
  OPSERVE_RETURN_IF_ERROR(SettleOutput(call, 1, self.dtype, self.shape));
  for (const int unmade : {2, 3}) {
    const Dims nothing = {0};
    if (call.output(unmade).origin != OutputSlot::Origin::kGiven)
      OPSERVE_RETURN_IF_ERROR(SettleOutput(call, unmade, self.dtype, nothing));
    MaskOutput(call, unmade, self.dtype);
  }
  return absl::OkStatus();
}

absl::Status InferCrossEntropyGrad(OpCall& call) {
  OPSERVE_RETURN_IF_ERROR(CheckNoZloss(call, 4));
  OPSERVE_RETURN_IF_ERROR(CheckNoZloss(call, 5));
  OPSERVE_RETURN_IF_ERROR(CheckEntropy(call, 1));
  const TensorDesc& log_prob = call.input(1);
  if (ReductionOf(call, kReductionAt) == Reduction::kNone) {
    OPSERVE_RETURN_IF_ERROR(CheckInputShape(call, 0, std::span(&log_prob.shape[0], 1)));
  } else {
    OPSERVE_RETURN_IF_ERROR(CheckSingle(call, 0));
  }
  return SettleOutput(call, 0, log_prob.dtype, log_prob.shape);
}

}  // namespace

extern constinit const Operator kCrossEntropyLoss = {
    .name = "CrossEntropyLoss",
    .summary = "Cross entropy of classes and what a model says of each.",
    .description =
        "log_prob = LogSoftmax(self) along C\n"
        "loss = -(1 - e) * weight[t] * log_prob[t] - e / C * sum of weight * log_prob over C, of "
        "each sample, t its class in target and e label_smoothing; 0 where t is ignore_index\n"
        "reduction none gives the loss of each sample, sum their sum, mean their sum over the sum "
        "of weight[t]: NaN where no target counts.\n"
        "A target that is no class and not ignore_index is an error, and nothing is written. There "
        "is no z-loss, whose arguments and results must be left out.",
    .inputs = kEntropyInputs,
    .attributes = kEntropyAttributes,
    .outputs = kEntropyOutputs,
    .support = kLossSupport,
    .gradient = {.op = "CrossEntropyLossGrad",
                 .inputs = kEntropyTakes,
                 .outputs = kGivesGradientOfPrediction},
    .infer = InferCrossEntropy};

extern constinit const Operator kCrossEntropyLossGrad = {
    .name = "CrossEntropyLossGrad",
    .summary = "Gradient of CrossEntropyLoss with respect to self.",
    .description =
        "out = k * (exp(log_prob) * ((1 - e) * weight[t] + e / C * sum of weight) - e / C * "
        "weight), "
        "less k * (1 - e) * weight[t] at t, of each sample, t its class in target and e "
        "label_smoothing; 0 where t is ignore_index\n"
        "k = grad_loss, for reduction mean divided by the sum of weight[t] over the samples that "
        "count.\n"
        "A target that is no class and not ignore_index is an error, and nothing is written.",
    .inputs = kEntropyGradInputs,
    .attributes = kEntropyGradAttributes,
    .outputs = kEntropyGradOutputs,
    .support = kLossSupport,
    .infer = InferCrossEntropyGrad};

}  // namespace opserve::cross_entropy_loss
