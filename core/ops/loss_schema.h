// What the schemas of the loss operators share. core/ops only.
#pragma once

#include <span>
#include <string_view>

#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/op/operator.h"

namespace opserve {

// Dtypes with which all products run the element-wise loss operators, in Profile order.
inline constexpr ProfileSupport kLossSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                                DTypeSet{DType::kFloat16, DType::kFloat32},
                                                DTypeSet{DType::kFloat16, DType::kFloat32}};

inline constexpr AttributeChoice kReductions[] = {
    {static_cast<int64_t>(Reduction::kNone), "none", "the loss of each element"},
    {static_cast<int64_t>(Reduction::kMean), "mean", "their mean"},
    {static_cast<int64_t>(Reduction::kSum), "sum", "their sum"}};
inline constexpr AttributeParam kReductionAttribute = {
    .name = "reduction",
    .summary = "what is made of the losses of the elements",
    .kind = AttributeKind::kInt,
    .default_value = AttributeDefault::Int(1),
    .choices = kReductions};

inline constexpr std::string_view kBroadcastShape = "any that broadcasts with the other inputs";
inline constexpr std::string_view kBroadcastResult = "the broadcast of all inputs";
inline constexpr std::string_view kReducedShape =
    "the broadcast of all inputs for reduction none, else a scalar";

// A sum goes over elements that broadcasting makes of fewer bytes, four in the time of an
// operation.
inline int64_t LossOperations(const OpCall& call) {
  if (ReductionOf(call, 0) == Reduction::kNone) return 0;
  const absl::StatusOr<Dims> shape = BroadcastInputs(call);
  return shape.ok() ? NumElements(*shape).value_or(0) / 4 : 0;
}

// A loss of each element is a map, and so is any gradient: its 1/n is that of the whole call.
inline bool LossRunsInPieces(const OpCall& call) {
  return ReductionOf(call, 0) == Reduction::kNone;
}
inline bool LossBackwardRunsInPieces(const OpCall& /*call*/) { return true; }

// Losses of a prediction and a truth of floating dtypes, with a reduction as attribute 0.
inline constexpr TensorParam kPrediction = {"self", "the prediction", kBroadcastShape,
                                            kFloatDTypes};
inline constexpr TensorParam kTruth = {"target", "the truth", kBroadcastShape, kFloatDTypes};
inline constexpr TensorParam kLossGradient = {
    "grad_output", "gradient of the loss's result; a scalar unless the reduction is none",
    kBroadcastShape, kFloatDTypes};
inline constexpr TensorParam kLossInputs[] = {kPrediction, kTruth};
inline constexpr TensorParam kLossOutputs[] = {{"out", "the loss", kReducedShape, kFloatDTypes}};
inline constexpr TensorParam kLossGradientInputs[] = {kLossGradient, kPrediction, kTruth};
inline constexpr TensorParam kLossGradientOutputs[] = {
    {"out", "gradient of self", kBroadcastResult, kFloatDTypes}};
inline constexpr AttributeParam kReductionOnly[] = {kReductionAttribute};

inline constexpr GradientInput kTakesPredictionAndTruth[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"},
    {"target", GradientInput::Source::kInput, "target"}};
inline constexpr GradientOutput kGivesGradientOfPrediction[] = {{"out", "self"}};

// What the reduction may be, then what all element-wise operators check.
inline absl::StatusOr<Dims> CheckPlainLoss(const OpCall& call, DType* promoted) {
  OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, 0));
  OPSERVE_ASSIGN_OR_RETURN(*promoted, CheckElementwise(call));
  return BroadcastInputs(call);
}

inline absl::Status InferPlainLoss(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckPlainLoss(call, &promoted));
  return SettleOutput(call, 0, promoted, ReductionOf(call, 0) == Reduction::kNone ? shape : Dims());
}

inline absl::Status InferPlainLossGradient(OpCall& call) {
  DType promoted = DType::kUndefined;
  OPSERVE_ASSIGN_OR_RETURN(const Dims shape, CheckPlainLoss(call, &promoted));
  return SettleOutput(call, 0, promoted, shape);
}

struct LossSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const TensorParam> inputs = kLossInputs;
  std::span<const AttributeParam> attributes = kReductionOnly;
  Gradient gradient = {};
  absl::Status (*infer)(OpCall& call) = InferPlainLoss;
};

constexpr Operator Loss(const LossSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = schema.inputs,
          .attributes = schema.attributes,
          .outputs = kLossOutputs,
          .support = kLossSupport,
          .gradient = schema.gradient,
          .infer = schema.infer,
          .runs_in_pieces = LossRunsInPieces,
          .operations = LossOperations};
}

struct LossGradientSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const TensorParam> inputs = kLossGradientInputs;
  std::span<const AttributeParam> attributes = kReductionOnly;
  std::span<const TensorParam> outputs = kLossGradientOutputs;
};

constexpr Operator LossGradient(const LossGradientSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = schema.inputs,
          .attributes = schema.attributes,
          .outputs = schema.outputs,
          .support = kLossSupport,
          .infer = InferPlainLossGradient,
          .runs_in_pieces = LossBackwardRunsInPieces};
}

}  // namespace opserve
