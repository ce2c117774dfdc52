#include "tests/accuracy/aten.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tests/accuracy/aten_call.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

at::ScalarType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return at::kHalf;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kFloat64:
      return at::kDouble;
    case DType::kInt32:
      return at::kInt;
    case DType::kInt64:
      return at::kLong;
    default:
      return at::kFloat;
  }
}

at::Tensor ToAten(const TestTensor& tensor) {
  const Dims& shape = tensor.desc().shape;
  const at::Tensor view =
      at::from_blob(const_cast<std::byte*>(tensor.bytes().data()),
                    at::IntArrayRef(shape.data(), shape.size()), TypeOf(tensor.desc().dtype));
  // Indices are int64 in PyTorch.
  if (tensor.desc().dtype == DType::kInt32) return view.to(at::kLong);
  return tensor.desc().dtype == DType::kFloat16 ? view.to(at::kFloat) : view.clone();
}

TestTensor FromAten(const at::Tensor& value, DType dtype) {
  const at::Tensor dense = value.to(TypeOf(dtype)).contiguous();
  const Dims shape(dense.sizes().begin(), dense.sizes().end());
  TestTensor tensor(TensorDesc::Dense(dtype, shape));
  std::memcpy(tensor.data(), dense.data_ptr(), tensor.bytes().size());
  return tensor;
}

// PyTorch has no function of it.
at::Tensor L1Backward(const OpCase& c, const std::vector<at::Tensor>& in) {
  at::Tensor grad = in[0];
  if (std::get<int64_t>(c.attributes[0]) == 1) grad = grad / static_cast<double>(in[1].numel());
  return (in[1] - in[2]).sign() * grad;
}

// PyTorch 1.13 has no kernel of them in bfloat16 on the CPU, or forgets that a convolution is
// transposed: float, rounded once, is what there is.
bool LacksBFloat16(std::string_view op) {
  static constexpr std::string_view kLacking[] = {"MseLoss",
                                                  "MseLossBackward",
                                                  "BinaryCrossEntropy",
                                                  "BinaryCrossEntropyBackward",
                                                  "Mish",
                                                  "MishBackward",
                                                  "HardtanhBackward",
                                                  "Convolution",
                                                  "ConvolutionBackward"};
  if (op.starts_with("ReflectionPad") || op.starts_with("ReplicationPad")) return true;
  return std::find(std::begin(kLacking), std::end(kLacking), op) != std::end(kLacking);
}

}  // namespace

std::string AtenVersion() { return TORCH_VERSION; }

std::optional<std::vector<TestTensor>> AtenOutputs(const OpCase& op_case) {
  const bool is_composed = op_case.op->name == "L1LossBackward";
  if (TestOf(*op_case.op).aten.empty() && !is_composed) return std::nullopt;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> inputs;
  const Operator& op = *op_case.op;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    inputs.push_back(ToAten(*input));
    if (LacksBFloat16(op.name)) inputs.back() = inputs.back().to(at::kFloat);
  }
  // Its mean would divide by the elements before broadcasting, and not all its operators broadcast.
  if (op.runs_in_pieces != nullptr) inputs = at::broadcast_tensors(inputs);
  const std::vector<at::Tensor> results =
      is_composed ? std::vector{L1Backward(op_case, inputs)}
                  : CallAten(op, TestOf(op).aten, inputs, op_case.attributes);
  std::vector<TestTensor> outputs;
  for (const at::Tensor& result : results) {
    const DType dtype = op_case.inputs[0]->desc().dtype;
    outputs.push_back(FromAten(result, result.is_floating_point() ? dtype : DType::kInt64));
  }
  return outputs;
}

}  // namespace opserve::testing
