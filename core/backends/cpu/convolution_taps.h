// What a convolution's kernels meet, as a matrix: a row for each of a kernel's elements (channel of
// the group, then its place in the kernel), a column for each position (batch, then the position in
// each dimension).
#pragma once

#include <array>
#include <cstdint>

#include "core/backends/cpu/block_product.h"
#include "core/device/kernel.h"

namespace opserve::cpu {

// Dimensions after the channels; those that a call has not are 1.
using Extents3 = std::array<int64_t, 3>;

// Which element is met along a dimension: (position * stride + place * step + shift) / divisor,
// where that is a whole number and in the tensor. Either stride or divisor is 1.
struct TapMap {
  int64_t stride = 1;
  int64_t step = 1;
  int64_t shift = 0;
  int64_t divisor = 1;
};

struct ConvolutionTaps {
  // A PackBlock, of which the batch is the groups. Zeros where there is no element.
  void Pack(const MatrixBlock& block, float* to, BlockSteps steps) const;

  // Whether it is the tensor itself, with its channels as rows.
  bool IsTensor() const;

  const std::byte* first = nullptr;  // element
  DType dtype = DType::kUndefined;
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  int64_t channels = 0;  // of a group
  Extents3 strides = {};
  Extents3 extents = {};  // of the tensor
  Extents3 kernel = {};
  Extents3 positions = {};
  std::array<TapMap, 3> maps = {};
};

}  // namespace opserve::cpu
