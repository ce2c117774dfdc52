// What a convolution's kernels meet, as a matrix: a row for each of a kernel's elements (channel of
// the group, then its place in the kernel), a column for each position (batch, then the place).
#pragma once

#include <array>
#include <cstdint>

#include "core/backends/cpu/block_product.h"
#include "core/device/kernel.h"
#include "core/op/convolution_shape.h"

namespace opserve::cpu {

// Dimensions after the channels; those that a call has not are 1.
using Extents3 = std::array<int64_t, 3>;
using Steps3 = std::array<ConvolutionSteps, 3>;

struct ConvolutionTaps {
  enum class From : uint8_t {
    kInput,   // the element at position * stride - padding + place * dilation
    kResult,  // that whose kernel's element lies on the position: the inverse of kInput
  };

  // A PackBlock, of which the batch is the groups. Zeros where there is no element.
  void Pack(const MatrixBlock& block, float* to, BlockSteps steps) const;

  From from = From::kInput;
  const std::byte* first = nullptr;  // element
  DType dtype = DType::kUndefined;
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  int64_t channels = 0;  // of a group
  Extents3 strides = {};
  Extents3 extents = {};  // of the tensor
  Extents3 kernel = {};
  Extents3 positions = {};
  Steps3 steps = {};

 private:
  // A kernel's place, and the first element of its channel.
  struct Tap {
    const std::byte* channel;
    Extents3 place;
  };

  Tap TapAt(int64_t group, int64_t index) const;
  int64_t SourceAt(size_t dim, int64_t position, int64_t place) const;
  void PackRow(const Tap& tap, int64_t position, int64_t count, float* to, int64_t step) const;
  void PackRun(const std::byte* row, int64_t place, int64_t position, int64_t count, float* to,
               int64_t step) const;
  const std::byte* Advance(const std::byte* place, int64_t elements) const;
};

}  // namespace opserve::cpu
