// What the schemas of matrix products and convolutions share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

#include "core/op/infer_checks.h"
#include "core/op/op_call.h"

namespace opserve {

inline constexpr ProfileSupport kProductSupport = {kFloatDTypes, kFloatDTypes, kFloatDTypes,
                                                   DTypeSet{DType::kFloat16, DType::kFloat32},
                                                   DTypeSet{DType::kFloat16, DType::kFloat32}};

inline constexpr AttributeChoice kCubeMathTypes[] = {
    {0, "keep_dtype", "compute in the dtype of the inputs"},
    {1, "allow_fp32_down_precision", "float32 may be computed with fewer bits"},
    {2, "use_fp16", "compute in float16"},
    {3, "use_hf32", "compute in HFLOAT32"}};
inline constexpr AttributeParam kCubeMathType = {
    .name = "cube_math_type",
    .summary = "precision of the products on an NPU; on the CPU it has no effect",
    .kind = AttributeKind::kInt,
    .default_value = AttributeDefault::Int(0),
    .choices = kCubeMathTypes,
    .c_type = "int8_t"};

// Whether tensors of this shape have a size in bytes, whatever their dtype: fewer than 2^60
// elements.
inline bool IsCountableProduct(std::span<const int64_t> shape) {
  constexpr int64_t kTooMany = int64_t{1} << 60;
  return NumElements(shape).value_or(kTooMany) < kTooMany;
}

// Of `extents` multiplied, as Operator::operations counts them: a core makes about so many products
// and sums while it makes another operation.
inline int64_t ProductOperations(std::initializer_list<int64_t> extents) {
  constexpr int64_t kProductsOfOperation = 32;
  int64_t count = 1;
  for (const int64_t extent : extents) {
    if (extent == 0) return 0;
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count / kProductsOfOperation;
}

}  // namespace opserve
