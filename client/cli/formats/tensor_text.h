// Tensors as text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/tensor/dtype.h"

namespace opserve::cli {

struct TensorTextOptions {
  // A tensor of more elements is shortened: `edge` entries from either end of each dimension, "…"
  // between.
  int64_t max_elements = 1000;
  int64_t edge = 3;
  // Rows are broken at this many columns.
  size_t width = 100;
};

// "f32[4,2]", "bf16[]".
std::string TypeText(DType dtype, std::span<const int64_t> shape);

// The elements of a dense row-major tensor, nested in brackets with aligned columns, without a
// newline at the end:
//   [[-1  0]
//    [ 1  1]]
// Elements are in their shortest form that reads back to the same bits. `bytes` must be exactly as
// long as the shape says.
std::string TensorText(DType dtype, std::span<const int64_t> shape,
                       std::span<const std::byte> bytes, const TensorTextOptions& options);

}  // namespace opserve::cli
