// KlDiv and KlDivBackward: schema.
#include "core/ops/loss_schema.h"

namespace opserve::kl_div {
namespace {

constexpr AttributeChoice kChoices[] = {
    kReductions[0],
    kReductions[1],
    kReductions[2],
    {static_cast<int64_t>(Reduction::kBatchMean), "batchmean", "their sum over the first extent"}};
constexpr AttributeParam WithBatchMean(AttributeParam param) {
  param.choices = kChoices;
  return param;
}
constexpr AttributeParam kAttributes[] = {WithBatchMean(kReductionAttribute),
                                          {.name = "log_target",
                                           .summary = "whether target is given as its logarithm",
                                           .kind = AttributeKind::kBool,
                                           .default_value = AttributeDefault::Bool(false)}};

// aclnnKlDiv's page gives a reduced result the shape [1], PyTorch the shape []: an output that the
// caller has made may have either.
absl::Status InferKlDiv(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(Dims shape, CheckPlainLoss(call, &promoted));
  if (ReductionOf(call, 0) != Reduction::kNone) {
    const OutputSlot& out = call.output(0);
    const Dims one = {1};
    const bool is_one = out.origin == OutputSlot::Origin::kGiven && SameShape(out.desc.shape, one);
    shape = is_one ? one : Dims();
  }
  return SettleOutput(call, 0, promoted, shape);
}

}  // namespace

extern constinit const Operator kKlDiv =
    Loss({.name = "KlDiv",
          .summary = "Kullback-Leibler divergence of target from a prediction that is a logarithm.",
          .description = "loss = target * (log(target) - self), 0 where target = 0; with "
                         "log_target exp(target) * (target - self)\n"
                         "reduction none gives the loss of each element, mean their mean, sum "
                         "their sum. An empty tensor has mean NaN and sum 0. batchmean gives their "
                         "sum over the first extent; of a scalar it is the sum.\n"
                         "An output that is given for a reduced result may have shape [1], too.",
          .attributes = kAttributes,
          .gradient = {.op = "KlDivBackward",
                       .inputs = kTakesPredictionAndTruth,
                       .outputs = kGivesGradientOfPrediction},
          .infer = InferKlDiv});

extern constinit const Operator kKlDivBackward = LossGradient(
    {.name = "KlDivBackward",
     .summary = "Gradient of KlDiv with respect to self.",
     .description =
         "out = -target * (grad_output * k); with log_target -exp(target) * (grad_output * k)\n"
         "k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and "
         "sum. For batchmean n is the first extent of the result.",
     .attributes = kAttributes});

}  // namespace opserve::kl_div
