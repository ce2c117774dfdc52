// ATen's CPU kernels on the same cases. out= forms where ATen has them without a copy, allocating
// forms (warm) elsewhere; L1's backward, which ATen lacks, is sub, sign and mul into preallocated
// tensors.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

#include "core/op/op_table.h"
#include "tests/accuracy/aten_call.h"
#include "tests/bench/kernels/bench_cases.h"
#include "tests/support/operator_test.h"

namespace opserve::bench {
namespace {

at::ScalarType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return at::kHalf;
    case DType::kBFloat16:
      return at::kBFloat16;
    default:
      return at::kFloat;
  }
}

at::Tensor Of(DType dtype, at::IntArrayRef shape, std::vector<float> values) {
  return at::from_blob(values.data(), shape, at::kFloat).to(TypeOf(dtype)).clone();
}

using Body = std::function<void()>;

// What ATen has an out= form of, by our name; empty for the rest.
Body IntoOutput(std::string_view op, const at::Tensor& a, const at::Tensor& b, const at::Tensor& d,
                at::Tensor out) {
  if (op == "L1Loss") return [=]() mutable { at::sub_out(out, a, b).abs_(); };
  if (op == "L1LossBackward") {
    return [=, scratch = at::empty_like(a)]() mutable {
      at::mul_out(out, at::sub_out(scratch, b, d).sign_(), a);
    };
  }
  if (op == "SmoothL1Loss") return [=]() mutable { at::smooth_l1_loss_out(out, a, b, 0, 0.7); };
  if (op == "SmoothL1LossBackward")
    return [=]() mutable { at::smooth_l1_loss_backward_out(out, a, b, d, 0, 0.7); };
  if (op == "Hardshrink") return [=]() mutable { at::hardshrink_out(out, a, 0.5); };
  if (op == "HardshrinkBackward")
    return [=]() mutable { at::hardshrink_backward_out(out, a, b, 0.5); };
  return {};
}

Body Elementwise(const BenchCase& c) {
  const auto input = [&c](uint64_t seed) {
    return Of(c.dtype, {c.elements}, RandomFloats(c.elements, seed));
  };
  const Operator* op = *FindOperator(c.op);
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < std::max<size_t>(op->inputs.size(), 3); ++i) inputs.push_back(input(i));
  Body body = IntoOutput(c.op, inputs[0], inputs[1], inputs[2], at::empty_like(inputs[0]));
  if (body) return body;
  if (testing::TestOf(*op).aten.empty()) throw std::invalid_argument("PyTorch has none");
  return [=] {
    testing::CallAten(*op, testing::TestOf(*op).aten, inputs,
                      testing::TestOf(*op).measured.front().values);
  };
}

Body Timed(const BenchCase& c) {
  const Operator* op = *FindOperator(c.op);
  const std::string_view aten = c.call->aten.empty() ? testing::TestOf(*op).aten : c.call->aten;
  if (aten.empty()) throw std::invalid_argument("PyTorch has none");
  std::vector<at::Tensor> inputs(op->inputs.size());
  for (size_t i = 0; i < c.call->inputs.size(); ++i) {
    const Dims& dims = c.call->inputs[i];
    const std::vector<int64_t> shape(dims.begin(), dims.end());
    const int64_t count = NumElements(dims).value_or(0);
    if (op->inputs[i].dtypes.Contains(DType::kFloat32)) {
      inputs[i] = Of(c.dtype, shape, RandomFloats(count, i));
    } else {
      std::vector<int64_t> indices = RandomIndices(count, 0, c.call->classes, i);
      inputs[i] = at::from_blob(indices.data(), shape, at::kLong).clone();
    }
  }
  std::vector<AttributeValue> attributes = c.call->attributes;
  for (size_t i = attributes.size(); i < op->attributes.size(); ++i)
    attributes.push_back(op->attributes[i].default_value.ToValue());
  return [=] { testing::CallAten(*op, aten, inputs, attributes); };
}

Body CtcLoss(const BenchCase& c) {
  const at::Tensor log_probs =
      Of(c.dtype, {c.steps, c.batch, c.classes}, RandomLogProbs(c.steps * c.batch, c.classes, 1));
  std::vector<int64_t> labels = RandomIndices(c.batch * c.labels, 1, c.classes, 2);
  const at::Tensor targets = at::from_blob(labels.data(), {c.batch, c.labels}, at::kLong).clone();
  const std::vector<int64_t> input_lengths(static_cast<size_t>(c.batch), c.steps);
  const std::vector<int64_t> target_lengths(static_cast<size_t>(c.batch), c.labels);
  if (c.op == "CtcLoss") {
    return [=] { at::_ctc_loss(log_probs, targets, input_lengths, target_lengths, 0, false); };
  }
  const auto [loss, alpha] =
      at::_ctc_loss(log_probs, targets, input_lengths, target_lengths, 0, false);
  const at::Tensor grad = Of(c.dtype, {c.batch}, RandomFloats(c.batch, 3));
  return [=, nll = loss, log_alpha = alpha] {
    at::_ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, nll, log_alpha,
                           0, false);
  };
}

void Run(benchmark::State& state, const BenchCase& c) {
  const at::NoGradGuard no_grad;
  at::set_num_threads(c.threads);
  try {
    const Body body = c.kind == BenchCase::Kind::kElementwise ? Elementwise(c)
                      : c.kind == BenchCase::Kind::kTimed     ? Timed(c)
                                                              : CtcLoss(c);
    body();
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
  } catch (const std::exception&) {
    state.SkipWithError("ATen has no such kernel on CPU");
  }
}

}  // namespace
}  // namespace opserve::bench

int main(int argc, char** argv) {
  for (const auto& c :
       opserve::bench::AllBenchCases(static_cast<int>(std::thread::hardware_concurrency()))) {
    benchmark::RegisterBenchmark(c.Name().c_str(), opserve::bench::Run, c)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
