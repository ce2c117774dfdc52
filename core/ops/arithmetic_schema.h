// What the schemas of the arithmetic of two tensors share. core/ops only.
#pragma once

#include <span>
#include <string_view>

#include "core/ops/activation_schema.h"

namespace opserve {

inline constexpr TensorParam kTwoOperands[] = {
    {"self", "the first operand", kBroadcastOfTwo, kFloatDTypes},
    {"other", "the second operand", kBroadcastOfTwo, kFloatDTypes}};
inline constexpr TensorParam kArithmeticOutputs[] = {
    {"out", "the result", "the broadcast of both inputs", kFloatDTypes}};

struct ArithmeticSchema {
  std::string_view name;
  std::string_view summary;
  std::string_view description;
  std::span<const AttributeParam> attributes = {};
};

constexpr Operator Arithmetic(const ArithmeticSchema& schema) {
  return {.name = schema.name,
          .summary = schema.summary,
          .description = schema.description,
          .inputs = kTwoOperands,
          .attributes = schema.attributes,
          .outputs = kArithmeticOutputs,
          .support = kActivationSupport,
          .infer = InferActivation,
          .runs_in_pieces = AlwaysInPieces};
}

}  // namespace opserve
