// GroupNorm and its gradients: mean and rstd go from one to the other without leaving the device.
#include "aclnnop/aclnn_group_norm_backward.h"

#include "aclnnop/aclnn_group_norm.h"
#include "sample.h"

int main() {
  Device device;
  const int64_t n = 1, c = 4, h_x_w = 2, group = 2;
  const FloatTensor input({n, c, h_x_w}, {1, 2, 3, 4, 5, 6, 7, 8});
  const FloatTensor gamma({c}, {1, 1, 1, 1});
  const FloatTensor beta({c}, {0, 0, 0, 0});
  const FloatTensor out({n, c, h_x_w}, std::vector<float>(8));
  const FloatTensor mean({n, group}, {0, 0});
  const FloatTensor rstd({n, group}, {0, 0});
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_OK(aclnnGroupNormGetWorkspaceSize(input.get(), gamma.get(), beta.get(), n, c, h_x_w, group,
                                          1e-5, out.get(), mean.get(), rstd.get(), &size,
                                          &executor));
  device.Run(aclnnGroupNorm, size, executor);
  Expect("out", out.Read(),
         {-1.3416f, -0.4472f, 0.4472f, 1.3416f, -1.3416f, -0.4472f, 0.4472f, 1.3416f});

  const FloatTensor grad_out({n, c, h_x_w}, {1, 0, 0, 0, 0, 2, 0, 0});
  const FloatTensor grad_input({n, c, h_x_w}, std::vector<float>(8));
  const FloatTensor grad_gamma({c}, std::vector<float>(4));
  const FloatTensor grad_beta({c}, std::vector<float>(4));
  const bool all[] = {true, true, true};
  aclBoolArray* mask = aclCreateBoolArray(all, 3);
  CHECK_OK(aclnnGroupNormBackwardGetWorkspaceSize(
      grad_out.get(), input.get(), mean.get(), rstd.get(), gamma.get(), n, c, h_x_w, group, mask,
      grad_input.get(), grad_gamma.get(), grad_beta.get(), &size, &executor));
  device.Run(aclnnGroupNormBackward, size, executor);
  Expect("grad_input", grad_input.Read(),
         {0.2683f, -0.3578f, -0.0894f, 0.1789f, -0.7155f, 1.2522f, -0.3578f, -0.1789f});
  Expect("grad_gamma", grad_gamma.Read(), {-1.3416f, 0, -0.8944f, 0});
  Expect("grad_beta", grad_beta.Read(), {1, 0, 2, 0});
  CHECK_OK(aclDestroyBoolArray(mask));
  return 0;
}
