// CtcLoss and its gradient: two steps, classes blank, a and b, the label "a". All classes are alike
// to the model, so three of nine alignments say "a".
#include "aclnnop/aclnn_ctc_loss_backward.h"

#include "aclnnop/aclnn_ctc_loss.h"
#include "sample.h"

int main() {
  Device device;
  const int64_t steps = 2, samples = 1, classes = 3, labels = 1;
  const FloatTensor log_probs({steps, samples, classes}, std::vector<float>(6, std::log(1 / 3.0f)));
  const Tensor<int64_t> targets(ACL_INT64, {samples, labels}, {1});
  aclIntArray* input_lengths = aclCreateIntArray(&steps, 1);
  aclIntArray* target_lengths = aclCreateIntArray(&labels, 1);
  const FloatTensor loss({samples}, {0});
  const FloatTensor log_alpha({samples, steps, 2 * labels + 1}, std::vector<float>(6));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  CHECK_OK(aclnnCtcLossGetWorkspaceSize(log_probs.get(), targets.get(), input_lengths,
                                        target_lengths, 0, false, loss.get(), log_alpha.get(),
                                        &size, &executor));
  device.Run(aclnnCtcLoss, size, executor);
  Expect("loss", loss.Read(), {std::log(3.0f)});

  const FloatTensor grad_out({samples}, {1});
  const FloatTensor grad({steps, samples, classes}, std::vector<float>(6));
  CHECK_OK(aclnnCtcLossBackwardGetWorkspaceSize(
      grad_out.get(), log_probs.get(), targets.get(), input_lengths, target_lengths, loss.get(),
      log_alpha.get(), 0, false, grad.get(), &size, &executor));
  device.Run(aclnnCtcLossBackward, size, executor);
  const float third = 1 / 3.0f;
  Expect("grad", grad.Read(), {0, -third, third, 0, -third, third});
  CHECK_OK(aclDestroyIntArray(input_lengths));
  CHECK_OK(aclDestroyIntArray(target_lengths));
  return 0;
}
