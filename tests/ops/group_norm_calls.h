// Calls of GroupNorm and GroupNormBackward with literal values.
#pragma once

#include <optional>
#include <vector>

#include "tests/ops/limit_values.h"
#include "tests/support/calls.h"

namespace opserve::testing {

struct GroupNormSizes {
  int64_t batch, channels, area, groups;
};

// Tensors of the backward; those of GoodGradient() unless a test says otherwise.
struct GroupNormTensors {
  std::optional<TestTensor> grad_out, input, mean, rstd, gamma;
};

OpCase GroupNormCall(TestTensor self, std::optional<TestTensor> gamma,
                     std::optional<TestTensor> beta, const GroupNormSizes& sizes, double eps);

OpCase GroupNormBackwardCall(const GroupNormTensors& tensors, const GroupNormSizes& sizes,
                             const std::vector<bool>& mask = {true, true, true});

// N = 2, C = 2, HxW = 2, one group, gamma {2, 4}. Its gradients:
//   grad_input {-6.5, -23.5, -34.5, -49.5, -1053, -705, -349, -5}
//   grad_gamma {74, 26}, grad_beta {10, 10}
inline constexpr GroupNormSizes kGoodSizes = {2, 2, 2, 1};
GroupNormTensors GoodGradient(DType dtype = DType::kFloat32);

}  // namespace opserve::testing
