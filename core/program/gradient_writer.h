// What rules of gradients have in common: the step that they are of, and gradients brought to the
// shape of what they are the gradient of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/program/program_builder.h"

namespace opserve {

using InputGradients = absl::InlinedVector<std::optional<ValueView>, 4>;

// A step of a program on the way back: the gradients of its outputs came in, those of some inputs
// are wanted.
struct BackwardStep {
  TypedProgram::Step step;
  InputGradients of_outputs;  // nullopt: nothing depends on that output
  std::vector<bool> wanted;   // by input
  std::string name;           // of the steps that compute them: "grad_conv"

  ValueView input(size_t i) const { return {step.sources[i], *step.call.inputs[i]}; }
  bool wants(size_t i) const { return wanted[i]; }
};

// Same elements in the same order in another shape.
absl::StatusOr<ValueView> Reshaped(ProgramBuilder& builder, std::string_view step, ValueView view,
                                   const Dims& shape);

// In this dtype.
absl::StatusOr<ValueView> InDType(ProgramBuilder& builder, std::string_view step, ValueView view,
                                  DType dtype);

// With the last two dimensions swapped. Rank 2 or more.
ValueView Transposed(ValueView view);

// The gradient of what was broadcast from `shape`: summed over what broadcasting made.
absl::StatusOr<ValueView> ReducedTo(ProgramBuilder& builder, std::string_view step,
                                    ValueView gradient, const Dims& shape);

// The gradient of a value of which a step saw `seen`, from that of what the step saw: of the
// value's shape. 161002: a view that has an element of the value twice, other than by broadcasting,
// or not at all.
absl::StatusOr<ValueView> ThroughView(ProgramBuilder& builder, std::string_view step,
                                      ValueView gradient, const TensorDesc& seen,
                                      const TensorDesc& value);

}  // namespace opserve
