// RmsNorm and RmsNormGrad: each row is a group, each of its elements a channel.
#include "core/backends/cpu/norm.h"

namespace opserve::cpu {
namespace {

NormCall RmsNormForward(const OpCall& call) {
  return {.shape = RowsOf(call.input(0), call.input(1).shape.size()),
          .kind = NormKind::kMeanSquare,
          .eps = call.attribute<double>(0),
          .x = NormInput(call, 0),
          .gamma = NormInput(call, 1),
          .out = NormOutput(call, 0),
          .rstd_out = NormOutput(call, 1)};
}

NormGradientCall RmsNormBackward(const OpCall& call) {
  return {.shape = RowsOf(call.input(1), call.input(3).shape.size()),
          .kind = NormKind::kMeanSquare,
          .dy = NormInput(call, 0),
          .x = NormInput(call, 1),
          .rstd = NormInput(call, 2),
          .gamma = NormInput(call, 3),
          .dx = NormOutput(call, 0),
          .dgamma = NormOutput(call, 1)};
}

}  // namespace

extern constinit const Kernel kRmsNormKernel = NormKernel<RmsNormForward>();
extern constinit const Kernel kRmsNormGradKernel = NormKernel<RmsNormBackward>();

}  // namespace opserve::cpu
