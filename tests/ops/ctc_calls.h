// Calls of CtcLoss and CtcLossBackward with literal values.
#pragma once

#include <optional>
#include <vector>

#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"

namespace opserve::testing {

inline constexpr DType kF64 = DType::kFloat64;

struct CtcAttributes {
  std::vector<int64_t> input_lengths;
  std::vector<int64_t> target_lengths;
  int64_t blank = 0;
  bool zero_infinity = false;
};

struct CtcTensors {
  std::optional<TestTensor> grad_out, log_probs, targets, neg_log_likelihood, log_alpha;
};

OpCase CtcCall(TestTensor log_probs, TestTensor targets, const CtcAttributes& attributes);
OpCase CtcBackwardCall(const CtcTensors& tensors, const CtcAttributes& attributes);

// What CtcLoss makes of `log_probs` and `targets` goes into its backward, with these gradients of
// the losses.
CtcTensors CtcForwardThenBackward(const TestTensor& log_probs, const TestTensor& targets,
                                  const CtcAttributes& attributes,
                                  const std::vector<double>& grad_out);

// Logarithms of `probabilities`, (T, N, C).
TestTensor LogsOf(DType dtype, const Dims& shape, const std::vector<double>& probabilities);

// Labels in one row for each sample.
TestTensor Labels(const Dims& shape, const std::vector<double>& labels,
                  DType dtype = DType::kInt64);

// T = 2, N = 1, C = 2, every probability a half, the label 1. Three alignments of four:
// neg_log_likelihood −ln(3/4), grad {1/6, −1/6, 1/6, −1/6} for grad_out 1.
CtcTensors GoodCtc(DType dtype = DType::kFloat64);
CtcAttributes GoodCtcAttributes();

}  // namespace opserve::testing
