// The extents of convolutions: for the schema, which checks them, and for kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/op/op_call.h"

namespace opserve {

// Of one dimension.
struct ConvolutionSteps {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t output_padding = 0;
};

// Of dimension `dim` after the channels, by the attributes from `first` on: stride, padding,
// dilation, transposed, output_padding.
inline ConvolutionSteps StepsOf(const OpCall& call, int first, size_t dim) {
  const auto entry = [&](int attribute) {
    const auto& list = call.attribute<std::vector<int64_t>>(first + attribute);
    return list.size() == 1 ? list[0] : list[dim];
  };
  return {entry(0), entry(1), entry(2), entry(4)};
}

// What a kernel's elements span, and twice the padding; nullopt where that is beyond 2^61.
struct KernelSpan {
  int64_t kernel;
  int64_t padding;
};
inline std::optional<KernelSpan> SpanOf(int64_t kernel, const ConvolutionSteps& steps) {
  constexpr int64_t kMost = int64_t{1} << 61;
  KernelSpan span = {};
  if (kernel < 1 || __builtin_mul_overflow(kernel - 1, steps.dilation, &span.kernel) ||
      __builtin_mul_overflow(steps.padding, 2, &span.padding))
    return std::nullopt;
  ++span.kernel;
  if (span.kernel > kMost || span.padding > kMost) return std::nullopt;
  return span;
}

// The extent of a convolution's result, >= 0, and all numbers on the way fit; nullopt where there
// is none.
inline std::optional<int64_t> ConvolvedExtent(int64_t input, int64_t kernel,
                                              const ConvolutionSteps& steps) {
  const std::optional<KernelSpan> span = SpanOf(kernel, steps);
  int64_t padded = 0;
  if (!span.has_value() || __builtin_add_overflow(input, span->padding, &padded) ||
      padded < span->kernel)
    return std::nullopt;
  return (padded - span->kernel) / steps.stride + 1;
}

// Likewise of a transposed one.
inline std::optional<int64_t> TransposedExtent(int64_t input, int64_t kernel,
                                               const ConvolutionSteps& steps) {
  const std::optional<KernelSpan> span = SpanOf(kernel, steps);
  int64_t extent = 0;
  if (!span.has_value() || input < 1 || steps.output_padding > (int64_t{1} << 60) ||
      __builtin_mul_overflow(input - 1, steps.stride, &extent) ||
      __builtin_add_overflow(extent, span->kernel, &extent) ||
      __builtin_add_overflow(extent, steps.output_padding, &extent))
    return std::nullopt;
  extent -= span->padding;
  if (extent < 0) return std::nullopt;
  return extent;
}

}  // namespace opserve
