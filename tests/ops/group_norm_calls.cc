#include "tests/ops/group_norm_calls.h"

namespace opserve::testing {

OpCase GroupNormCall(TestTensor self, std::optional<TestTensor> gamma,
                     std::optional<TestTensor> beta, const GroupNormSizes& sizes, double eps) {
  return CallOf("GroupNorm", {std::move(self), std::move(gamma), std::move(beta)},
                {sizes.batch, sizes.channels, sizes.area, sizes.groups, eps});
}

OpCase GroupNormBackwardCall(const GroupNormTensors& tensors, const GroupNormSizes& sizes,
                             const std::vector<bool>& mask) {
  return CallOf("GroupNormBackward",
                {tensors.grad_out, tensors.input, tensors.mean, tensors.rstd, tensors.gamma},
                {sizes.batch, sizes.channels, sizes.area, sizes.groups, mask});
}

GroupNormTensors GoodGradient(DType dtype) {
  return {.grad_out = TestTensor::Of(dtype, {2, 2, 2}, {1, 2, 3, 4, 4, 3, 2, 1}),
          .input = TestTensor::Of(dtype, {2, 2, 2}, {1, 2, 3, 4, 8, 6, 4, 2}),
          .mean = TestTensor::Of(dtype, {2, 1}, {1, 2}),
          .rstd = TestTensor::Of(dtype, {2, 1}, {1, 2}),
          .gamma = TestTensor::Of(dtype, {2}, {2, 4})};
}

}  // namespace opserve::testing
