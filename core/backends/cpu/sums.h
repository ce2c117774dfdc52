// Sums over some dimensions of a space: how kernels cut them, from shapes alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/kernel.h"

namespace opserve::cpu {

// Of a space seen as [outer][terms][inner], outer · inner sums. Where inner is 1, the terms of a
// sum are neighbours in the space's order; else the sums are, and are added up side by side, in
// blocks of columns. Terms beyond a segment's are summed apart first.
class SumsPlan {
 public:
  // Fewer sums side by side than that are not worth it: such a space is to be seen with inner = 1.
  static constexpr int64_t kMinInner = 16;
  // Columns of a block.
  static constexpr int64_t kColumns = 512;

  SumsPlan(int64_t outer, int64_t terms, int64_t inner);

  int64_t outer() const { return outer_; }
  int64_t terms() const { return terms_; }
  int64_t inner() const { return inner_; }
  int64_t sums() const { return outer_ * inner_; }
  int64_t columns() const { return columns_; }
  int64_t blocks() const { return blocks_; }  // of inner
  int64_t segment_terms() const { return segment_terms_; }
  int64_t segments() const { return segments_; }

  // Workspace: where there are several segments, a double each sum of each of them.
  size_t bytes() const;

 private:
  int64_t outer_;
  int64_t terms_;
  int64_t inner_;
  int64_t columns_;
  int64_t blocks_;
  int64_t segment_terms_;
  int64_t segments_;
};

// The sums of each channel, which are dimension 1 of tensors of `shape`; of all elements where
// `channels` is 1.
class ChannelSpace {
 public:
  ChannelSpace(const Dims& shape, int64_t channels);

  const SumsPlan& sums() const { return sums_; }
  // `desc`, of that shape, as the space of the sums.
  TensorDesc View(const TensorDesc& desc) const;

 private:
  bool swaps_;
  SumsPlan sums_;
};

// Output `output` becomes the sums of input `input`, seen as `space`, each over `divisor`.
void SumInput(const KernelArgs& args, int input, const TensorDesc& space, const SumsPlan& plan,
              int output, double divisor);

}  // namespace opserve::cpu
