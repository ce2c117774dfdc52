// The extents of a convolution, whose kernels slide over x and lie at the positions that are y; and
// which elements of x meet the same of a kernel's.
#pragma once

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "core/backends/cpu/convolution_taps.h"
#include "core/op/convolution_shape.h"

namespace opserve::cpu {

struct ConvolutionGeometry {
  int64_t batch = 0;
  int64_t groups = 1;
  int64_t x_channels = 0;  // of a group
  int64_t y_channels = 0;
  Extents3 x = {1, 1, 1};
  Extents3 y = {1, 1, 1};
  Extents3 kernel = {1, 1, 1};
  std::array<ConvolutionSteps, 3> steps = {};
};

// Of shapes of tensors, and the attributes from `first`, which is the stride, on.
ConvolutionGeometry GeometryOf(const OpCall& call, int first, const Dims& x, const Dims& y,
                               const Dims& w);

// Every step-th of a dimension's elements.
struct Slice {
  int64_t first = 0;
  int64_t count = 1;
  int64_t step = 1;
};
using Slices = std::array<Slice, 3>;

inline Slices Whole(const Extents3& extents) {
  Slices slices;
  for (size_t i = 0; i < 3; ++i) slices[i].count = extents[i];
  return slices;
}

inline Extents3 CountsOf(const Slices& slices) {
  return {slices[0].count, slices[1].count, slices[2].count};
}

// Elements of x, the kernel's elements that they meet, and where in y.
struct ConvolutionPhase {
  Slices x;
  Slices kernel;
  std::array<TapMap, 3> maps;
};

// Calls visit for all that make x: with a stride of s, every s-th element in each dimension. Where
// they would be many there is one, of which most products are with zeros.
void ForEachPhase(const ConvolutionGeometry& g,
                  absl::FunctionRef<void(const ConvolutionPhase&)> visit);

}  // namespace opserve::cpu
