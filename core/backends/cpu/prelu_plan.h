// How the kernels of Prelu and PreluBackward see their tensors.
#pragma once

#include <cstdint>
#include <utility>

#include "core/backends/cpu/sums.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// The sums of PreluBackward, one for each weight.
inline ChannelSpace PreluChannels(const OpCall& call) {
  return {call.input(1).shape, call.input(2).num_elements()};
}

// The weights, as they broadcast to `self`.
inline TensorDesc PreluWeights(const TensorDesc& self, const TensorDesc& weight) {
  TensorDesc view = weight;
  view.shape.clear();
  view.strides.clear();
  if (weight.num_elements() == 1) return view;
  view.shape.assign(self.shape.size() - 1, 1);
  view.strides.assign(self.shape.size() - 1, 0);
  view.shape[0] = weight.shape[0];
  view.strides[0] = weight.strides[0];
  return view;
}

}  // namespace opserve::cpu
