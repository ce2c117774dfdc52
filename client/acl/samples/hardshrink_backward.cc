// The gradient of Hardshrink; its dead zone is a scalar.
#include "aclnnop/aclnn_hardshrink_backward.h"

#include "sample.h"

int main() {
  Device device;
  const std::vector<int64_t> shape = {6};
  const FloatTensor grad_output(shape, {1, 2, 3, 4, 5, 6});
  const FloatTensor self(shape, {-1, -0.5f, -0.25f, 0, 0.5f, 0.75f});
  const FloatTensor grad_input(shape, {0, 0, 0, 0, 0, 0});
  float half = 0.5f;
  aclScalar* lambd = aclCreateScalar(&half, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_OK(aclnnHardshrinkBackwardGetWorkspaceSize(grad_output.get(), self.get(), lambd,
                                                   grad_input.get(), &size, &executor));
  device.Run(aclnnHardshrinkBackward, size, executor);
  Expect("grad_input", grad_input.Read(), {1, 0, 0, 0, 0, 6});
  CHECK_OK(aclDestroyScalar(lambd));
  return 0;
}
