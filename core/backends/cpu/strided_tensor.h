// A tensor as the sequence of its elements in row-major order, whatever its layout: for kernels to
// which only that order matters. GatherTile and ScatterTile (elementwise.h) move runs of it.
#pragma once

#include "core/backends/cpu/elementwise.h"
#include "core/device/kernel.h"

namespace opserve::cpu {

struct StridedTensor {
  Dims shape;  // merged dimensions, outermost first; empty for a single element
  Operand operand;

  bool linear() const { return operand.linear; }
};

// A given input; a wanted output.
StridedTensor InputTensor(const KernelArgs& args, int input);
StridedTensor OutputTensor(const KernelArgs& args, int output);

// The same as `view` has it, which is of the same memory and dtype: its dimensions in another
// order, or some of its elements.
StridedTensor InputTensor(const KernelArgs& args, int input, const TensorDesc& view);
StridedTensor OutputTensor(const KernelArgs& args, int output, const TensorDesc& view);

}  // namespace opserve::cpu
