// How the kernels of ReduceSum and Mean see their input: as a space of sums.
#pragma once

#include <cstdint>
#include <span>

#include "core/backends/cpu/sums.h"
#include "core/op/op_call.h"
#include "core/op/reduced_dims.h"

namespace opserve::cpu {

// Where the last dimensions stay, and are enough of them, the sums lie side by side; else the
// dimensions that go are seen as the last ones.
class ReducePlan {
 public:
  explicit ReducePlan(const OpCall& call) : input_(call.input(0)), reduced_(call) {
    size_t last = input_.shape.size();
    while (last > 0 && !reduced_.Contains(last - 1)) --last;
    inner_ = Count(std::span<const int64_t>(input_.shape).subspan(last));
    if (last == 0 || inner_ < SumsPlan::kMinInner) {
      inner_ = 1;
      last = input_.shape.size();
    }
    inner_begin_ = last;
  }

  SumsPlan sums() const {
    Dims outer, terms;
    for (size_t i = 0; i < inner_begin_; ++i)
      (reduced_.Contains(i) ? terms : outer).push_back(input_.shape[i]);
    return {Count(outer), Count(terms), inner_};
  }

  // The input, its dimensions in the order in which the sums are made of them.
  TensorDesc space() const {
    TensorDesc view = input_;
    view.shape.clear();
    view.strides.clear();
    const auto take = [&](size_t i) {
      view.shape.push_back(input_.shape[i]);
      view.strides.push_back(input_.strides[i]);
    };
    for (size_t i = 0; i < inner_begin_; ++i) {
      if (!reduced_.Contains(i)) take(i);
    }
    for (size_t i = 0; i < inner_begin_; ++i) {
      if (reduced_.Contains(i)) take(i);
    }
    for (size_t i = inner_begin_; i < input_.shape.size(); ++i) take(i);
    return view;
  }

 private:
  // Beside an extent of 0 others may be so large that their product is no number.
  static int64_t Count(std::span<const int64_t> extents) {
    return NumElements(extents).value_or(0);
  }

  const TensorDesc& input_;
  const ReducedDims reduced_;
  int64_t inner_ = 1;
  size_t inner_begin_ = 0;
};

}  // namespace opserve::cpu
