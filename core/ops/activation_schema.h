// What the schemas of the activations share: one input, one result of its shape, and a gradient by
// its own operator. core/ops only.
#pragma once

#include <span>
#include <string_view>

#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"
#include "core/op/op_call.h"
#include "core/op/operator.h"

namespace opserve {

inline constexpr ProfileSupport kActivationSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                                      DTypeSet{DType::kFloat16, DType::kFloat32},
                                                      DTypeSet{DType::kFloat16, DType::kFloat32}};

inline constexpr std::string_view kBroadcastOfTwo = "any that broadcasts with the other input";
inline constexpr TensorParam kResultGradient = {"grad_output", "gradient of the forward's result",
                                                kBroadcastOfTwo, kFloatDTypes};
inline constexpr TensorParam kForwardInput = {"self", "the forward's input", kBroadcastOfTwo,
                                              kFloatDTypes};
inline constexpr TensorParam kForwardResult = {"output", "the forward's result", kBroadcastOfTwo,
                                               kFloatDTypes};

// The output of a gradient, by whatever name.
constexpr TensorParam InputGradient(std::string_view name) {
  return {name, "gradient of the forward's input", "the broadcast of both inputs", kFloatDTypes};
}

inline constexpr TensorParam kActivationInputs[] = {{"self", "the input", "any", kFloatDTypes}};
inline constexpr TensorParam kActivationOutputs[] = {{"out", "the result", "self's", kFloatDTypes}};
// The inputs of a gradient of the forward's input, or of its result, and its output.
inline constexpr TensorParam kOfInput[] = {kResultGradient, kForwardInput};
inline constexpr TensorParam kOfResult[] = {kResultGradient, kForwardResult};
inline constexpr TensorParam kGradInput[] = {InputGradient("grad_input")};
inline constexpr TensorParam kGradOut[] = {InputGradient("out")};

inline constexpr GradientInput kTakesInput[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"self", GradientInput::Source::kInput, "self"}};
inline constexpr GradientInput kTakesResult[] = {
    {"grad_output", GradientInput::Source::kOutputGradient, "out"},
    {"output", GradientInput::Source::kOutput, "out"}};
inline constexpr GradientOutput kGivesGradInput[] = {{"grad_input", "self"}};
inline constexpr GradientOutput kGivesGradOut[] = {{"out", "self"}};

// An attribute that is a number, with its default value.
constexpr AttributeParam Scalar(std::string_view name, std::string_view summary, double value) {
  return {.name = name,
          .summary = summary,
          .kind = AttributeKind::kScalar,
          .default_value = AttributeDefault::Float(value)};
}

inline bool AlwaysInPieces(const OpCall& /*call*/) { return true; }

// What attributes may be, then all of the element-wise inference.
inline absl::Status InferActivation(OpCall& call) {
  for (size_t i = 0; i < call.attributes.size(); ++i)
    OPSERVE_RETURN_IF_ERROR(CheckAttribute(call, static_cast<int>(i)));
  return InferElementwise(call);
}

struct ActivationSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const AttributeParam> attributes = {};
  Gradient gradient = {};
};

constexpr Operator Activation(const ActivationSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = kActivationInputs,
          .attributes = schema.attributes,
          .outputs = kActivationOutputs,
          .support = kActivationSupport,
          .gradient = schema.gradient,
          .infer = InferActivation,
          .runs_in_pieces = AlwaysInPieces};
}

struct ActivationGradientSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const TensorParam> inputs = kOfInput;
  std::span<const AttributeParam> attributes = {};
  std::span<const TensorParam> outputs = kGradInput;
  std::span<const std::string_view> c_order = {};
  absl::Status (*infer)(OpCall& call) = InferActivation;
  bool (*runs_in_pieces)(const OpCall& call) = AlwaysInPieces;
};

constexpr Operator ActivationGradient(const ActivationGradientSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = schema.inputs,
          .attributes = schema.attributes,
          .outputs = schema.outputs,
          .support = kActivationSupport,
          .c_order = schema.c_order,
          .infer = schema.infer,
          .runs_in_pieces = schema.runs_in_pieces};
}

}  // namespace opserve
