// A tensor as a batch of matrices, each side of which may be several of its dimensions.
#pragma once

#include <initializer_list>

#include "core/backends/cpu/block_product.h"
#include "core/device/kernel.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::cpu {

// Dimensions that are counted as one, the last the fastest.
class MatrixAxis {
 public:
  // Adds a dimension inside of those before; merges where it continues them.
  void Append(int64_t extent, int64_t stride);

  // What lies at `index`: its address in elements, and how many follow at the distance of step().
  struct Run {
    int64_t offset;
    int64_t count;
  };
  Run RunAt(int64_t index) const;
  int64_t step() const { return strides_.empty() ? 0 : strides_.back(); }

 private:
  Dims shape_;
  Dims strides_;
};

// Of an input or an output.
struct MatrixView {
  const std::byte* input = nullptr;  // of the element of indices 0
  std::byte* output = nullptr;
  DType dtype = DType::kUndefined;
  MatrixAxis batch;
  MatrixAxis rows;
  MatrixAxis cols;
};

// Without axes.
MatrixView ViewOfInput(const KernelArgs& args, int input);
MatrixView ViewOfOutput(const KernelArgs& args, int output);

// Appends dimensions [first, last) of a tensor.
void AppendDims(const TensorDesc& desc, size_t first, size_t last, MatrixAxis& axis);

// A PackBlock of an input, a StoreBlock of an output.
void PackView(const MatrixView& view, const MatrixBlock& block, float* to, BlockSteps steps);
void StoreView(const MatrixView& view, const MatrixBlock& block, const float* from,
               BlockSteps steps);

}  // namespace opserve::cpu
