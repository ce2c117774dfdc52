// BatchNorm and BatchNormBackward. In training a channel is a group of one row: all its elements,
// through a view that has the channels outermost. With running statistics nothing is reduced before
// it is normalized, and each channel of each batch is a group, whose moments are the channel's.
#include <algorithm>
#include <utility>

#include "core/backends/cpu/norm.h"

namespace opserve::cpu {
namespace {

constexpr int64_t Quotient(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }

// Elements of a channel, in all batches. Data without elements has no work; its other extents may
// have any product.
int64_t ChannelElements(const TensorDesc& data) {
  return Quotient(data.num_elements(), data.shape[1]);
}

NormShape ByChannel(const TensorDesc& data) {
  return {.n = 1, .c = data.shape[1], .hw = ChannelElements(data), .group = data.shape[1]};
}

NormShape ByBatch(const TensorDesc& data) {
  const int64_t n = data.shape[0];
  return {
      .n = n, .c = data.shape[1], .hw = Quotient(ChannelElements(data), n), .group = data.shape[1]};
}

// Channels outermost.
NormTensor Turned(NormTensor data) {
  if (!data.given()) return data;
  std::swap(data.desc.shape[0], data.desc.shape[1]);
  std::swap(data.desc.strides[0], data.desc.strides[1]);
  return data;
}

// One for each channel, the same in each of `n` batches; of no batches it is as of one.
NormTensor Repeated(NormTensor channels, int64_t n) {
  if (!channels.given()) return channels;
  channels.desc.shape.insert(channels.desc.shape.begin(), std::max<int64_t>(n, 1));
  channels.desc.strides.insert(channels.desc.strides.begin(), 0);
  return channels;
}

NormCall BatchNormForward(const OpCall& call) {
  const bool training = call.attribute<bool>(0);
  const TensorDesc& data = call.input(0);
  NormCall norm = {.shape = training ? ByChannel(data) : ByBatch(data),
                   .kind = training ? NormKind::kCentered : NormKind::kFixed,
                   .eps = call.attribute<double>(2),
                   .x = NormInput(call, 0),
                   .gamma = NormInput(call, 1),
                   .beta = NormInput(call, 2),
                   .out = NormOutput(call, 0),
                   .mean_out = NormOutput(call, 1),
                   .rstd_out = NormOutput(call, 2)};
  if (training) {
    norm.x = Turned(norm.x);
    norm.out = Turned(norm.out);
    norm.momentum = call.attribute<double>(1);
    norm.running_mean = NormInput(call, 3);
    norm.running_variance = NormInput(call, 4);
    norm.running_mean_out = NormOutput(call, 3);
    norm.running_variance_out = NormOutput(call, 4);
  } else {
    norm.mean = Repeated(NormInput(call, 3), norm.shape.n);
    norm.variance = Repeated(NormInput(call, 4), norm.shape.n);
  }
  return norm;
}

NormGradientCall BatchNormBackward(const OpCall& call) {
  const bool training = call.attribute<bool>(0);
  const TensorDesc& data = call.input(1);
  NormGradientCall norm = {.shape = training ? ByChannel(data) : ByBatch(data),
                           .kind = training ? NormKind::kCentered : NormKind::kFixed,
                           .dy = NormInput(call, 0),
                           .x = NormInput(call, 1),
                           .mean = NormInput(call, training ? 5 : 3),
                           .rstd = NormInput(call, training ? 6 : 4),
                           .gamma = NormInput(call, 2),
                           .dx = NormOutput(call, 0),
                           .dgamma = NormOutput(call, 1),
                           .dbeta = NormOutput(call, 2),
                           .eps = call.attribute<double>(1)};
  if (training) {
    for (NormTensor* tensor : {&norm.dy, &norm.x, &norm.dx}) *tensor = Turned(std::move(*tensor));
  } else {
    for (NormTensor* tensor : {&norm.mean, &norm.rstd})
      *tensor = Repeated(std::move(*tensor), norm.shape.n);
  }
  return norm;
}

}  // namespace

extern constinit const Kernel kBatchNormKernel = NormKernel<BatchNormForward>();
extern constinit const Kernel kBatchNormBackwardKernel = NormKernel<BatchNormBackward>();

}  // namespace opserve::cpu
