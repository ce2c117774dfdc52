// The gradients of one step.
#pragma once

#include "absl/status/statusor.h"
#include "core/program/gradient_writer.h"

namespace opserve {

// The gradient of each input that `step` wants, of the shape to which its operator broadcast the
// input or of the input's: by the operator that the schema names (Operator::gradient), or by a rule
// for an operator whose gradient is made of several (Matmul, Add, ReduceSum and the like).
// Errors (161002) name the input that has no gradient, or the output through which none passes.
absl::StatusOr<InputGradients> GradientsOf(ProgramBuilder& builder, const BackwardStep& step);

}  // namespace opserve
