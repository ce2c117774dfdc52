// Calls whose tensors are views of those of another call: halves of them, or in another order of
// their dimensions. What takes a call (elementwise-inl.h) computes on them in place.
#pragma once

#include <array>
#include <cstddef>

#include "core/device/kernel.h"

namespace opserve::cpu {

// A call of up to three inputs and one output, all on the stack. `args` must outlive it.
class ViewCall {
 public:
  explicit ViewCall(const KernelArgs& args) : args_(args) {}

  // The next input: `view` of the memory of input `input`.
  ViewCall& Take(int input, const TensorDesc& view) {
    inputs_[call_.inputs.size()] = args_.inputs[static_cast<size_t>(input)];
    call_.inputs.emplace_back(view);
    return *this;
  }
  ViewCall& Take(int input) { return Take(input, args_.call.input(input)); }

  // The output.
  ViewCall& Make(int output, const TensorDesc& view) {
    output_ = args_.outputs[static_cast<size_t>(output)];
    call_.outputs.emplace_back().desc = view;
    return *this;
  }
  ViewCall& Make(int output) { return Make(output, args_.call.output(output).desc); }

  // Valid as long as this is.
  KernelArgs args() const {
    return {.call = call_,
            .inputs = {inputs_.data(), call_.inputs.size()},
            .outputs = {&output_, call_.outputs.size()},
            .workspace = args_.workspace,
            .control = args_.control,
            .workers = args_.workers};
  }

 private:
  const KernelArgs& args_;
  OpCall call_;
  std::array<const std::byte*, 3> inputs_{};
  std::byte* output_ = nullptr;
};

// The two halves of a tensor along the dimension that attribute 0 of a call names.
class Halves {
 public:
  Halves(const OpCall& call, const TensorDesc& whole) : whole_(whole) {
    const int64_t dim = call.attribute<int64_t>(0);
    dim_ = static_cast<size_t>(dim < 0 ? dim + whole.rank() : dim);
  }

  TensorDesc first() const {
    TensorDesc half = whole_;
    half.shape[dim_] /= 2;
    return half;
  }
  TensorDesc second() const {
    TensorDesc half = first();
    half.storage_offset += half.shape[dim_] * half.strides[dim_];
    return half;
  }

 private:
  const TensorDesc& whole_;
  size_t dim_ = 0;
};

}  // namespace opserve::cpu
