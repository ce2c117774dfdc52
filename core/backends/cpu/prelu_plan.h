// How the kernels of Prelu and PreluBackward see their tensors and cut their sums: from shapes
// alone.
#pragma once

#include <cstdint>
#include <utility>

#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/scratch.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// What a sum costs besides its elements, as Pace counts it.
inline constexpr int64_t kPreluSumCost = 64;

// Channels are as many as weights. Where they have more elements than a chunk, these are summed in
// pieces of a chunk.
struct PreluPlan {
  explicit PreluPlan(const OpCall& call)
      : channels(call.input(2).num_elements()),
        elements(channels == 0 ? 0 : call.input(1).num_elements() / channels),
        pieces((elements + kChunk - 1) / kChunk) {
    ScratchPlan scratch;
    if (pieces > 1) scratch.Take(channels * pieces, sizeof(double));
    bytes = scratch.bytes();
  }

  int64_t channels;
  int64_t elements;  // of a channel
  int64_t pieces;
  size_t bytes = 0;  // workspace: a double each piece of each channel
};

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

// The elements of a channel one after another.
inline TensorDesc PreluChannels(const TensorDesc& desc, const PreluPlan& plan) {
  TensorDesc view = desc;
  if (plan.channels > 1) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return view;
}

}  // namespace opserve::cpu
