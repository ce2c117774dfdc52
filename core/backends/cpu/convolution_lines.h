// Products of a few rows and the taps of few places of a kernel, as convolutions have them whose
// groups are small (depthwise ones). Taps are not packed as a matrix: lines of the tensor are read
// to floats once for all places of a kernel's row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/backends/cpu/block_product.h"
#include "core/backends/cpu/convolution_taps.h"
#include "core/backends/cpu/scratch.h"

namespace opserve::cpu {

// Whether a product of `rows` rows and the taps, or the taps' transpose, is made by lines. From
// shapes and attributes alone.
bool MadeByLines(const ConvolutionTaps& taps, int64_t rows);

// A·taps, `shape` as MultiplyBlocks has it; also its order of additions. No workspace.
void MultiplyLines(const Workers& workers, const ProductShape& shape, const ConvolutionTaps& taps,
                   PackBlock a, StoreBlock store);

// How A·tapsᵀ is cut: the sums of each segment of the depth are added later.
class LineSumsPlan {
 public:
  // Takes what is needed of `scratch`.
  LineSumsPlan(const ProductShape& shape, ScratchPlan& scratch);

  const ProductShape& shape() const { return shape_; }
  int64_t elements() const { return shape_.rows * shape_.cols; }  // of a group
  int64_t segments() const { return segments_; }
  int64_t segment_depth() const { return segment_depth_; }
  size_t partials() const { return partials_; }

 private:
  ProductShape shape_;
  int64_t segments_;
  int64_t segment_depth_;
  size_t partials_;
};

// `workspace` is that of the plan. Sums are float vectors within a block, double beyond.
void SumLines(const Workers& workers, const LineSumsPlan& plan, std::span<std::byte> workspace,
              const ConvolutionTaps& taps, PackBlock a, StoreBlock store);

}  // namespace opserve::cpu
