// What the tests of the norms share: the formulas in float64 over any division of the elements into
// groups and channels, and calls of gradients that follow from calls of forwards.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

// Which group (of one mean and rstd) and which channel (of one weight and bias) an element is of.
struct NormModel {
  int64_t groups;
  int64_t channels;
  std::function<int64_t(int64_t element)> group_of;
  std::function<int64_t(int64_t element)> channel_of;
  bool centered = true;  // else the mean counts as 0
};

// The last `normalized` dimensions of `shape` are a group each, of channels of one element.
NormModel RowsModel(const Dims& shape, size_t normalized);

// Of each group; the magnitudes are those of the terms.
struct NormMoments {
  Reference mean;
  Reference variance;  // without centering the mean of the squares
};
NormMoments MomentsOf(const NormModel& model, const TestTensor& x);
// 1 / sqrt(variance + eps).
Reference RstdOf(const Reference& variance, double eps);

Reference NormOutput(const NormModel& model, const TestTensor& x, const Reference& mean,
                     const Reference& rstd, const std::optional<TestTensor>& weight,
                     const std::optional<TestTensor>& bias);

// Gradients of x, weight and bias. Where the moments are `fixed` they do not depend on x.
std::vector<Reference> NormGradients(const NormModel& model, const TestTensor& dy,
                                     const TestTensor& x, const std::vector<double>& mean,
                                     const std::vector<double>& rstd,
                                     const std::optional<TestTensor>& weight, bool fixed = false);

// No elements, for an output that is left out.
Reference Nothing();

// Random numbers that may be a variance or an rstd.
TestTensor Positive(DType dtype, const Dims& shape, Rng& rng);
TestTensor Shifted(const TestTensor& tensor, double by);

// The call of the gradient that the schema names, of what `forward` takes and the reference gives,
// with random gradients that come in. All outputs are asked for.
OpCase NormGradientOf(const OpCase& forward, Rng& rng);
// Variables are the inputs of `forward` that have gradients.
GradientProblem NormProblem(const OpCase& forward, Rng& rng);

}  // namespace opserve::testing
