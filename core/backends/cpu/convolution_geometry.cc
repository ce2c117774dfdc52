#include "core/backends/cpu/convolution_geometry.h"

#include <numeric>

namespace opserve::cpu {
namespace {

// Whole of a dimension.
void SetPhase(const ConvolutionGeometry& g, size_t dim, ConvolutionPhase& phase) {
  const ConvolutionSteps& steps = g.steps[dim];
  phase.x[dim].count = g.x[dim];
  phase.kernel[dim].count = g.kernel[dim];
  phase.maps[dim] = {1, -steps.dilation, steps.padding, steps.stride};
}

// Those of x of which x + padding leaves `rest` when divided by the stride.
void SetPhase(const ConvolutionGeometry& g, size_t dim, int64_t rest, ConvolutionPhase& phase) {
  const ConvolutionSteps& steps = g.steps[dim];
  const int64_t stride = steps.stride;
  const auto left = [](int64_t extent, int64_t first, int64_t step) {
    return first < extent ? (extent - first + step - 1) / step : 0;
  };
  Slice& x = phase.x[dim];
  x.first = (rest - steps.padding % stride + stride) % stride;
  x.step = stride;
  x.count = left(g.x[dim], x.first, stride);
  const int64_t common = std::gcd(stride, steps.dilation);
  Slice& kernel = phase.kernel[dim];
  kernel.step = stride / common;
  while (kernel.first < kernel.step && kernel.first * (steps.dilation % stride) % stride != rest)
    ++kernel.first;
  kernel.count = kernel.first < kernel.step ? left(g.kernel[dim], kernel.first, kernel.step) : 0;
  if (kernel.count == 0) return;
  phase.maps[dim] = {1, -(steps.dilation / common),
                     (x.first + steps.padding - kernel.first * steps.dilation) / stride, 1};
}

}  // namespace

ConvolutionGeometry GeometryOf(const OpCall& call, int first, const Dims& x, const Dims& y,
                               const Dims& w) {
  const auto groups = call.attribute<int64_t>(first + 5);
  ConvolutionGeometry geometry = {x[0], groups, x[1] / groups, y[1] / groups};
  const size_t missing = 5 - x.size();
  for (size_t i = 2; i < x.size(); ++i) {
    const size_t dim = i - 2 + missing;
    geometry.x[dim] = x[i];
    geometry.y[dim] = y[i];
    geometry.kernel[dim] = w[i];
    geometry.steps[dim] = StepsOf(call, first, i - 2);
  }
  return geometry;
}

void ForEachPhase(const ConvolutionGeometry& g,
                  absl::FunctionRef<void(const ConvolutionPhase&)> visit) {
  constexpr int64_t kMostPhases = 64;
  Extents3 strides = {g.steps[0].stride, g.steps[1].stride, g.steps[2].stride};
  const int64_t phases = NumElements(strides).value_or(kMostPhases + 1);
  if (phases > kMostPhases) {
    ConvolutionPhase phase = {};
    for (size_t dim = 0; dim < 3; ++dim) SetPhase(g, dim, phase);
    return visit(phase);
  }
  for (int64_t i = 0; i < phases; ++i) {
    ConvolutionPhase phase = {};
    int64_t rest = i;
    for (size_t dim = 0; dim < 3; ++dim) {
      SetPhase(g, dim, rest % strides[dim], phase);
      rest /= strides[dim];
    }
    visit(phase);
  }
}

}  // namespace opserve::cpu
