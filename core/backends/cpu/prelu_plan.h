// How the kernels of Prelu and PreluBackward see their tensors.
#pragma once

#include <cstdint>
#include <utility>

#include "core/backends/cpu/sums.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// The sums of PreluBackward, one for each weight.
class PreluChannels {
 public:
  explicit PreluChannels(const OpCall& call)
      : weights_(call.input(2).num_elements()),
        elements_(weights_ == 0 ? 0 : call.input(1).num_elements() / weights_),
        side_by_side_(call.input(1).shape.size() == 2 && weights_ >= SumsPlan::kMinInner) {}

  SumsPlan sums() const {
    return side_by_side_ ? SumsPlan(1, elements_, weights_) : SumsPlan(weights_, elements_, 1);
  }

  // `desc`, which has self's shape, as the space of these sums.
  TensorDesc View(const TensorDesc& desc) const {
    TensorDesc view = desc;
    if (weights_ > 1 && !side_by_side_) {
      std::swap(view.shape[0], view.shape[1]);
      std::swap(view.strides[0], view.strides[1]);
    }
    return view;
  }

 private:
  int64_t weights_;
  int64_t elements_;  // of each weight
  bool side_by_side_;
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

}  // namespace opserve::cpu
