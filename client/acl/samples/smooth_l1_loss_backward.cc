// The gradient of SmoothL1Loss, planned once and run on several batches.
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

#include "sample.h"

int main() {
  Device device;
  const std::vector<int64_t> shape = {2, 2};
  const FloatTensor grad_out({}, {1});
  const FloatTensor self(shape, {0, 1.5f, 3, -4});
  const FloatTensor target(shape, {0.5f, 1.5f, 1, 1});
  const FloatTensor grad_input(shape, {0, 0, 0, 0});
  const int64_t sum = 2;
  const float beta = 1;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_OK(aclnnSmoothL1LossBackwardGetWorkspaceSize(grad_out.get(), self.get(), target.get(), sum,
                                                     beta, grad_input.get(), &size, &executor));
  CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
  device.Run(aclnnSmoothL1LossBackward, size, executor);
  Expect("grad_input", grad_input.Read(), {-0.5f, 0, 1, -1});

  // The same plan on another self: tensor 1 of the call.
  const FloatTensor next(shape, {1, 1.25f, 1, 1.5f});
  void* data = nullptr;
  CHECK_OK(aclGetRawTensorAddr(next.get(), &data));
  CHECK_OK(aclSetTensorAddr(executor, 1, next.get(), data));
  device.Run(aclnnSmoothL1LossBackward, size, executor);
  Expect("grad_input", grad_input.Read(), {0.5f, -0.25f, 0, 0.5f});
  CHECK_OK(aclDestroyAclOpExecutor(executor));
  return 0;
}
