#include "tests/accuracy/aten.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cstring>
#include <functional>

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
  return tensor.desc().dtype == DType::kFloat16 ? view.to(at::kFloat) : view.clone();
}

TestTensor FromAten(const at::Tensor& value, DType dtype) {
  const at::Tensor dense = value.to(TypeOf(dtype)).contiguous();
  const Dims shape(dense.sizes().begin(), dense.sizes().end());
  TestTensor tensor(TensorDesc::Dense(dtype, shape));
  std::memcpy(tensor.data(), dense.data_ptr(), tensor.bytes().size());
  return tensor;
}

using Tensors = std::vector<at::Tensor>;

// Attributes of the call, by position.
int64_t Int(const OpCase& c, size_t i) { return std::get<int64_t>(c.attributes[i]); }
double Float(const OpCase& c, size_t i) { return std::get<double>(c.attributes[i]); }
at::IntArrayRef Ints(const OpCase& c, size_t i) {
  return std::get<std::vector<int64_t>>(c.attributes[i]);
}

Tensors L1Backward(const OpCase& c, const Tensors& in) {
  at::Tensor grad = in[0];
  if (Int(c, 0) == 1) grad = grad / static_cast<double>(in[1].numel());
  return {(in[1] - in[2]).sign() * grad};
}

Tensors GroupNorm(const OpCase& c, const Tensors& in) {
  const auto [out, mean, rstd] = at::native_group_norm(in[0], in[1], in[2], Int(c, 0), Int(c, 1),
                                                       Int(c, 2), Int(c, 3), Float(c, 4));
  return {out, mean, rstd};
}

Tensors GroupNormBackward(const OpCase& c, const Tensors& in) {
  const auto [dx, dgamma, dbeta] =
      at::native_group_norm_backward(in[0], in[1], in[2], in[3], in[4], Int(c, 0), Int(c, 1),
                                     Int(c, 2), Int(c, 3), {true, true, true});
  return {dx, dgamma, dbeta};
}

Tensors Ctc(const OpCase& c, const Tensors& in) {
  const auto [loss, alpha] = at::_ctc_loss(in[0], in[1], Ints(c, 0), Ints(c, 1), Int(c, 2), false);
  return {loss, alpha};
}

Tensors CtcBackward(const OpCase& c, const Tensors& in) {
  return {at::_ctc_loss_backward(in[0], in[1], in[2], Ints(c, 0), Ints(c, 1), in[3], in[4],
                                 Int(c, 2), false)};
}

struct Row {
  std::string_view op;
  std::function<Tensors(const OpCase&, const Tensors&)> run;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"L1Loss", [](auto& c, auto& in) { return Tensors{at::l1_loss(in[0], in[1], Int(c, 0))}; }},
      {"L1LossBackward", L1Backward},
      {"SmoothL1Loss",
       [](auto& c, auto& in) {
         return Tensors{at::smooth_l1_loss(in[0], in[1], Int(c, 0), Float(c, 1))};
       }},
      {"SmoothL1LossBackward",
       [](auto& c, auto& in) {
         return Tensors{at::smooth_l1_loss_backward(in[0], in[1], in[2], Int(c, 0), Float(c, 1))};
       }},
      {"Hardshrink", [](auto& c, auto& in) { return Tensors{at::hardshrink(in[0], Float(c, 0))}; }},
      {"HardshrinkBackward",
       [](auto& c, auto& in) {
         return Tensors{at::hardshrink_backward(in[0], in[1], Float(c, 0))};
       }},
      {"GroupNorm", GroupNorm},
      {"GroupNormBackward", GroupNormBackward},
      {"CtcLoss", Ctc},
      {"CtcLossBackward", CtcBackward}};
  return rows;
}

}  // namespace

std::string AtenVersion() { return TORCH_VERSION; }

std::optional<std::vector<TestTensor>> AtenOutputs(const OpCase& op_case) {
  const at::NoGradGuard no_grad;
  Tensors inputs;
  for (const std::optional<TestTensor>& input : op_case.inputs) inputs.push_back(ToAten(*input));
  // Its mean would divide by the elements before broadcasting, and not all its operators broadcast.
  if (op_case.op->FindAttribute("reduction") >= 0 || op_case.op->FindAttribute("lambd") >= 0)
    inputs = at::broadcast_tensors(inputs);
  std::vector<TestTensor> outputs;
  for (const Row& row : Rows()) {
    if (row.op != op_case.op->name) continue;
    for (const at::Tensor& output : row.run(op_case, inputs))
      outputs.push_back(FromAten(output, op_case.inputs[0]->desc().dtype));
  }
  return outputs;
}

}  // namespace opserve::testing
