#include "core/backends/cpu/strided_tensor.h"

namespace opserve::cpu {
namespace {

StridedTensor Merge(const TensorDesc& desc) {
  StridedTensor tensor;
  tensor.operand.dtype = desc.dtype;
  Dims& shape = tensor.shape;
  Dims& strides = tensor.operand.strides;
  tensor.operand.linear = true;
  // Strides of an empty tensor may be any numbers.
  if (desc.num_elements() == 0) return tensor;
  for (size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] == 1) continue;
    if (!shape.empty() && strides.back() == desc.strides[i] * desc.shape[i]) {
      shape.back() *= desc.shape[i];
      strides.back() = desc.strides[i];
    } else {
      shape.push_back(desc.shape[i]);
      strides.push_back(desc.strides[i]);
    }
  }
  tensor.operand.linear = shape.empty() || (shape.size() == 1 && strides[0] == 1);
  return tensor;
}

size_t OffsetBytes(const TensorDesc& desc) {
  return static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
}

}  // namespace

StridedTensor InputTensor(const KernelArgs& args, int input) {
  return InputTensor(args, input, args.call.input(input));
}

StridedTensor OutputTensor(const KernelArgs& args, int output) {
  return OutputTensor(args, output, args.call.output(output).desc);
}

StridedTensor InputTensor(const KernelArgs& args, int input, const TensorDesc& view) {
  StridedTensor tensor = Merge(view);
  tensor.operand.input = args.inputs[static_cast<size_t>(input)] + OffsetBytes(view);
  return tensor;
}

StridedTensor OutputTensor(const KernelArgs& args, int output, const TensorDesc& view) {
  StridedTensor tensor = Merge(view);
  tensor.operand.output = args.outputs[static_cast<size_t>(output)] + OffsetBytes(view);
  return tensor;
}

}  // namespace opserve::cpu
