// What the tests of all operators know of one: the value `kXTest` of tests/ops/x.cc, of every row
// OPSERVE_OP(x, X) of core/op/builtin_ops.inc. A row without one does not link.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/elementwise_calls.h"
#include "tests/support/long_call.h"
#include "tests/support/reference.h"
#include "tests/support/seed.h"

namespace opserve::testing {

// A backward call and the forward that it belongs to.
struct GradientProblem {
  OpCase backward;
  // The forward at the given values of one of its variables (float64 tensors, for the reference;
  // `dtype` tensors, for the kernel).
  std::function<OpCase(size_t variable, const std::vector<double>& values, DType dtype)> forward;
  // Of each variable, its values; the backward's output of the same index is its gradient.
  std::vector<std::vector<double>> variables;
  std::vector<double> weights;  // of the forward's first output
};

// How a backward operator is held against differences of its forward.
struct GradientCheck {
  GradientProblem (*problem)(Rng& rng, int turn) = nullptr;
  // Of the backward kernel, beside the exact derivative: rounding of its dtype.
  double tolerance = 0;
  // What differences of a forward kernel can show: its dtype, the step, and the truncation error of
  // a central difference with that step, relative to 1 + |gradient|.
  DType dtype = DType::kFloat32;
  double step = 0x1p-4;
  double truncation = 0;
};

struct OperatorTest {
  // The outputs in float64 or better, element by element, from the formula.
  std::vector<Reference> (*reference)(const OpCase& op_case);

  // Valid calls over dtypes, shapes, layouts and attributes.
  std::vector<OpCase> (*cases)(const Operator& op, Rng& rng) = ElementwiseCases;
  // Calls over which errors are measured: all floating inputs of one dtype; labels tell apart what
  // is to be measured apart ("mean 0", "T500").
  std::vector<OpCase> (*accuracy_cases)(const Operator& op, DType dtype,
                                        Rng& rng) = ElementwiseAccuracyCases;
  // Calls that have each dimension in turn huge.
  std::vector<LongCall> (*long_calls)(const Operator& op) = ElementwiseLongCalls;
  // Calls that are over soon, but for what comes late in them and could be long; nullptr = none.
  std::vector<LongCall> (*long_ends)() = nullptr;

  // Of element-wise operators: the lists of attributes of `cases`, and those of `accuracy_cases`,
  // of which the first is that of `long_calls` and of benchmarks.
  std::vector<std::vector<AttributeValue>> attributes = {{}};
  std::vector<LabelledAttributes> measured = {{}};

  // Largest error of an element in float32, in ulps; 0 where only the vendor's thresholds hold.
  double ulps = 0;

  // PyTorch's function of it, called with our parameters: "hardshrink(self, lambd)", those that
  // PyTorch takes by keyword as "gelu(self, approximate=approximate)", choices by their names; of
  // several functions of a name "mul.Tensor(self, other)". False is itself, dtype that of the first
  // input.
  // Goldens are recorded, errors and times compared by it. Empty where PyTorch has none.
  std::string_view aten = {};

  // Of an operator that is another's gradient.
  GradientCheck gradient = {};
};

const OperatorTest& TestOf(const Operator& op);

}  // namespace opserve::testing
