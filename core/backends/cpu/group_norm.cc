// GroupNorm and GroupNormBackward: N, C, HxW and group are attributes.
#include "core/backends/cpu/norm.h"

namespace opserve::cpu {
namespace {

NormShape ShapeOf(const OpCall& call) {
  return {call.attribute<int64_t>(0), call.attribute<int64_t>(1), call.attribute<int64_t>(2),
          call.attribute<int64_t>(3)};
}

NormCall GroupNormForward(const OpCall& call) {
  return {.shape = ShapeOf(call),
          .eps = call.attribute<double>(4),
          .x = NormInput(call, 0),
          .gamma = NormInput(call, 1),
          .beta = NormInput(call, 2),
          .out = NormOutput(call, 0),
          .mean_out = NormOutput(call, 1),
          .rstd_out = NormOutput(call, 2)};
}

NormGradientCall GroupNormBackward(const OpCall& call) {
  return {.shape = ShapeOf(call),
          .dy = NormInput(call, 0),
          .x = NormInput(call, 1),
          .mean = NormInput(call, 2),
          .rstd = NormInput(call, 3),
          .gamma = NormInput(call, 4),
          .dx = NormOutput(call, 0),
          .dgamma = NormOutput(call, 1),
          .dbeta = NormOutput(call, 2)};
}

}  // namespace

extern constinit const Kernel kGroupNormKernel = NormKernel<GroupNormForward>();
extern constinit const Kernel kGroupNormBackwardKernel = NormKernel<GroupNormBackward>();

}  // namespace opserve::cpu
