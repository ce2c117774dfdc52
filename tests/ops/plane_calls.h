// Calls and references of operators on planes, the last dimensions of tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/operator_test.h"

namespace opserve::testing {

// What goes into an output along one axis, by output.
struct PlaneTerm {
  int64_t input;
  double weight;
};
using PlaneMatrix = std::vector<std::vector<PlaneTerm>>;

// The axis that a plane of a single row has.
PlaneMatrix SingleRow();

// Extent of a tensor's last dimension, or of the one before (1), of a list's ints (0 height, 1
// width).
int64_t ExtentFromBack(const TestTensor& tensor, size_t back);
int64_t AxisOfList(const AttributeValue& list, size_t axis);

// rows · plane · columnsᵀ of each plane, height × width, of `input`; and the transpose.
std::vector<Reference> PlaneSumsReference(const TestTensor& input, const PlaneMatrix& rows,
                                          const PlaneMatrix& columns, int64_t height,
                                          int64_t width);
std::vector<Reference> PlaneGradientsReference(const TestTensor& gradient, const PlaneMatrix& rows,
                                               const PlaneMatrix& columns, int64_t height,
                                               int64_t width);

// A shape of the forward's input with attributes of the forward.
struct PlaneSetting {
  Dims shape;
  std::vector<AttributeValue> attributes;
  std::string_view label = {};  // of a long call
};

// Calls of the operator or of its gradient `op`, which takes grad_output, self and what else its
// schema names; `input_size` is self's shape.
std::vector<OpCase> PlaneCases(const Operator& op, std::string_view forward,
                               const std::vector<PlaneSetting>& settings, Rng& rng);
std::vector<OpCase> PlaneAccuracyCases(const Operator& op, std::string_view forward,
                                       const std::vector<PlaneSetting>& settings, DType dtype,
                                       Rng& rng);
std::vector<LongCall> PlaneLongCalls(const Operator& op, std::string_view forward,
                                     const std::vector<PlaneSetting>& settings);

// Of values that lie 1/4 apart, so that differences meet no bend.
GradientProblem PlaneProblem(std::string_view backward, std::string_view forward,
                             const PlaneSetting& setting, Rng& rng);

}  // namespace opserve::testing
