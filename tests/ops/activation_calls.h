// What the tests of the activations share.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {

// Calls over shapes and dtypes that tell whether the operator uses the machinery of the
// element-wise ones as it should, which the tests of the losses try in full; and of elements of all
// magnitudes.
std::vector<OpCase> ActivationCases(const Operator& op, Rng& rng);

// An attribute that is a number, as float32.
double ScalarOf(const OpCase& op_case, size_t attribute);

// `terms` of each element, of the elements of the inputs at its place: their sum is the result, the
// sum of their magnitudes what errors are measured by.
std::vector<Reference> SumReference(
    const OpCase& op_case,
    const std::function<std::vector<double>(const std::vector<double>&)>& terms);

// 1 / (1 + e^-x), and e^x over one more than it; near for x far below 0, too.
double Logistic(double x);

// How the gradient of a forward whose third derivative is at most 3 is checked.
constexpr GradientCheck Smooth(GradientProblem (*problem)(Rng& rng, int turn)) {
  return {.problem = problem, .tolerance = 1e-6, .step = 0x1p-6, .truncation = 0x1p-13};
}
// Of such a one times a number from the normal distribution, as gates have it.
constexpr GradientCheck SmoothGate(GradientProblem (*problem)(Rng& rng, int turn)) {
  return {.problem = problem, .tolerance = 1e-6, .step = 0x1p-6, .truncation = 0x1p-11};
}
// Of one whose third derivative is at most 500.
constexpr GradientCheck Curved(GradientProblem (*problem)(Rng& rng, int turn)) {
  return {.problem = problem, .tolerance = 2e-6, .step = 0x1p-8, .truncation = 0x1p-9};
}
// Of one that is straight between its bends, where differences are exact but for rounding.
constexpr GradientCheck Straight(GradientProblem (*problem)(Rng& rng, int turn)) {
  return {.problem = problem, .tolerance = 1e-6};
}

}  // namespace opserve::testing
