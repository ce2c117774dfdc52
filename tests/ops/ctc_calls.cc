#include "tests/ops/ctc_calls.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {

OpCase CtcCall(TestTensor log_probs, TestTensor targets, const CtcAttributes& attributes) {
  return CallOf("CtcLoss", {std::move(log_probs), std::move(targets)},
                {attributes.input_lengths, attributes.target_lengths, attributes.blank,
                 attributes.zero_infinity});
}

OpCase CtcBackwardCall(const CtcTensors& tensors, const CtcAttributes& attributes) {
  return CallOf("CtcLossBackward",
                {tensors.grad_out, tensors.log_probs, tensors.targets, tensors.neg_log_likelihood,
                 tensors.log_alpha},
                {attributes.input_lengths, attributes.target_lengths, attributes.blank,
                 attributes.zero_infinity});
}

CtcTensors CtcForwardThenBackward(const TestTensor& log_probs, const TestTensor& targets,
                                  const CtcAttributes& attributes,
                                  const std::vector<double>& grad_out) {
  const auto outputs = AllOutputs(CtcCall(log_probs, targets, attributes));
  EXPECT_THAT(outputs, IsOk());
  CtcTensors tensors = {.log_probs = log_probs, .targets = targets};
  const auto batch = static_cast<int64_t>(grad_out.size());
  tensors.grad_out = TestTensor::Of(log_probs.desc().dtype, {batch}, grad_out);
  if (outputs.ok()) {
    tensors.neg_log_likelihood = (*outputs)[0];
    tensors.log_alpha = (*outputs)[1];
  }
  return tensors;
}

TestTensor LogsOf(DType dtype, const Dims& shape, const std::vector<double>& probabilities) {
  std::vector<double> logs = probabilities;
  for (double& value : logs) value = std::log(value);
  return TestTensor::Of(dtype, shape, logs);
}

TestTensor Labels(const Dims& shape, const std::vector<double>& labels, DType dtype) {
  return TestTensor::Of(dtype, shape, labels);
}

CtcTensors GoodCtc(DType dtype) {
  const double half = std::log(0.5);
  const double never = -INFINITY;
  return {
      .grad_out = TestTensor::Of(dtype, {1}, {1}),
      .log_probs = TestTensor::Of(dtype, {2, 1, 2}, {half, half, half, half}),
      .targets = Labels({1, 1}, {1}),
      .neg_log_likelihood = TestTensor::Of(dtype, {1}, {-std::log(0.75)}),
      .log_alpha = TestTensor::Of(dtype, {1, 2, 3}, {half, half, never, 2 * half, half, 2 * half})};
}

CtcAttributes GoodCtcAttributes() { return {.input_lengths = {2}, .target_lengths = {1}}; }

}  // namespace opserve::testing
