// LayerNorm and LayerNormBackward: each row is a group, each of its elements a channel.
#include <vector>

#include "core/backends/cpu/norm.h"

namespace opserve::cpu {
namespace {

NormShape ShapeOf(const OpCall& call, const TensorDesc& data) {
  return RowsOf(data, call.attribute<std::vector<int64_t>>(0).size());
}

NormCall LayerNormForward(const OpCall& call) {
  return {.shape = ShapeOf(call, call.input(0)),
          .eps = call.attribute<double>(1),
          .x = NormInput(call, 0),
          .gamma = NormInput(call, 1),
          .beta = NormInput(call, 2),
          .out = NormOutput(call, 0),
          .mean_out = NormOutput(call, 1),
          .rstd_out = NormOutput(call, 2)};
}

NormGradientCall LayerNormBackward(const OpCall& call) {
  return {.shape = ShapeOf(call, call.input(1)),
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

extern constinit const Kernel kLayerNormKernel = NormKernel<LayerNormForward>();
extern constinit const Kernel kLayerNormBackwardKernel = NormKernel<LayerNormBackward>();

}  // namespace opserve::cpu
