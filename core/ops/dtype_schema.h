// What the schemas of operators share that are told the dtype of their output, by the number that
// aclDataType has for it. core/ops only.
#pragma once

#include <cstdint>

#include "core/op/operator.h"
#include "core/tensor/dtype.h"

namespace opserve {

inline constexpr int64_t kDTypeOfSelf = -1;
inline constexpr AttributeChoice kDTypeChoices[] = {
    {kDTypeOfSelf, "self", "that of self"},
    {0, "float32", "single precision"},
    {1, "float16", "IEEE half precision"},
    {27, "bfloat16", "float32's exponent, 8 bits of precision"}};

// What a choice stands for; kUndefined for kDTypeOfSelf.
constexpr DType DTypeOfChoice(int64_t choice) {
  switch (choice) {
    case 0:
      return DType::kFloat32;
    case 1:
      return DType::kFloat16;
    case 27:
      return DType::kBFloat16;
    default:
      return DType::kUndefined;
  }
}

}  // namespace opserve
