// Ten operators of the catalogue, drawn at random, each by the functions of its page.
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_hardtanh_backward.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_logsigmoid.h"
#include "aclnnop/aclnn_mish.h"
#include "aclnnop/aclnn_reflection_pad1d.h"
#include "aclnnop/aclnn_reflection_pad2d_backward.h"
#include "aclnnop/aclnn_softshrink_backward.h"
#include "aclnnop/aclnn_threshold.h"
#include "aclnnop/aclnn_upsample_nearest_2d_backward.h"

#include "sample.h"

namespace {

// An int array or a scalar for one call.
struct Ints {
  explicit Ints(const std::vector<int64_t>& values)
      : array(aclCreateIntArray(values.data(), values.size())) {}
  ~Ints() { CHECK_OK(aclDestroyIntArray(array)); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  aclIntArray* array;
};

struct Scalar {
  explicit Scalar(float value) : scalar(aclCreateScalar(&value, ACL_FLOAT)) {}
  ~Scalar() { CHECK_OK(aclDestroyScalar(scalar)); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  aclScalar* scalar;
};

std::vector<float> Zeros(size_t count) { return std::vector<float>(count, 0.0f); }

uint64_t size = 0;
aclOpExecutor* executor = nullptr;

void Activations(Device& device) {
  const std::vector<int64_t> shape = {4};
  const FloatTensor self(shape, {-2, -0.25f, 0.5f, 3});
  const FloatTensor grad(shape, {1, 2, 3, 4});
  const FloatTensor out(shape, Zeros(4));
  CHECK_OK(aclnnMishGetWorkspaceSize(self.get(), out.get(), &size, &executor));
  device.Run(aclnnMish, size, executor);
  Expect("Mish", out.Read(), {-0.2525f, -0.1299f, 0.3752f, 2.9865f});

  const Scalar zero(0);
  const Scalar minus(-7);
  CHECK_OK(aclnnThresholdGetWorkspaceSize(self.get(), zero.scalar, minus.scalar, out.get(), &size,
                                          &executor));
  device.Run(aclnnThreshold, size, executor);
  Expect("Threshold", out.Read(), {-7, -7, 0.5f, 3});

  const Scalar least(-1);
  const Scalar most(1);
  CHECK_OK(aclnnHardtanhBackwardGetWorkspaceSize(grad.get(), self.get(), least.scalar, most.scalar,
                                                 out.get(), &size, &executor));
  device.Run(aclnnHardtanhBackward, size, executor);
  Expect("HardtanhBackward", out.Read(), {0, 2, 3, 0});

  const Scalar half(0.4f);
  CHECK_OK(aclnnSoftshrinkBackwardGetWorkspaceSize(grad.get(), self.get(), half.scalar, out.get(),
                                                   &size, &executor));
  device.Run(aclnnSoftshrinkBackward, size, executor);
  Expect("SoftshrinkBackward", out.Read(), {1, 0, 3, 4});

  const FloatTensor buffer(shape, Zeros(4));
  CHECK_OK(aclnnLogSigmoidForwardGetWorkspaceSize(self.get(), out.get(), buffer.get(), &size,
                                                  &executor));
  device.Run(aclnnLogSigmoidForward, size, executor);
  Expect("LogSigmoidForward", out.Read(), {-2.1269f, -0.8259f, -0.4741f, -0.0486f});
}

void Loss(Device& device) {
  constexpr int64_t kMean = 1;
  const FloatTensor self({2}, {-1, -0.5f});
  const FloatTensor target({2}, {0.25f, 0.75f});
  const FloatTensor out({}, Zeros(1));
  CHECK_OK(aclnnKlDivGetWorkspaceSize(self.get(), target.get(), kMean, false, out.get(), &size,
                                      &executor));
  device.Run(aclnnKlDiv, size, executor);
  Expect("KlDiv", out.Read(), {0.0313f});
}

void Rows(Device& device) {
  const FloatTensor weight({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor<int64_t> indices(ACL_INT64, {2}, {2, 0});
  const FloatTensor rows({2, 2}, Zeros(4));
  CHECK_OK(
      aclnnEmbeddingGetWorkspaceSize(weight.get(), indices.get(), rows.get(), &size, &executor));
  device.Run(aclnnEmbedding, size, executor);
  Expect("Embedding", rows.Read(), {5, 6, 1, 2});

  const FloatTensor self({1, 1, 3}, {1, 2, 3});
  const FloatTensor padded({1, 1, 6}, Zeros(6));
  const Ints padding({1, 2});
  CHECK_OK(aclnnReflectionPad1dGetWorkspaceSize(self.get(), padding.array, padded.get(), &size,
                                                &executor));
  device.Run(aclnnReflectionPad1d, size, executor);
  Expect("ReflectionPad1d", padded.Read(), {2, 1, 2, 3, 2, 1});
}

void Planes(Device& device) {
  const FloatTensor self({1, 1, 2, 2}, {1, 2, 3, 4});
  const FloatTensor grad({1, 1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const FloatTensor grad_input({1, 1, 2, 2}, Zeros(4));
  const Ints padding({0, 0, 1, 1});
  CHECK_OK(aclnnReflectionPad2dBackwardGetWorkspaceSize(grad.get(), self.get(), padding.array,
                                                        grad_input.get(), &size, &executor));
  device.Run(aclnnReflectionPad2dBackward, size, executor);
  Expect("ReflectionPad2dBackward", grad_input.Read(), {10, 12, 6, 8});

  const Ints output_size({4, 2});
  const Ints input_size({1, 1, 2, 2});
  CHECK_OK(aclnnUpsampleNearest2dBackwardGetWorkspaceSize(grad.get(), output_size.array,
                                                          input_size.array, 2.0, 1.0,
                                                          grad_input.get(), &size, &executor));
  device.Run(aclnnUpsampleNearest2dBackward, size, executor);
  Expect("UpsampleNearest2dBackward", grad_input.Read(), {4, 6, 12, 14});
}

}  // namespace

int main() {
  Device device;
  Activations(device);
  Loss(device);
  Rows(device);
  Planes(device);
  return 0;
}
