// Reverse-mode differentiation of a program over the operator table.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "core/program/program.h"
#include "core/program/program_builder.h"

namespace opserve {

// Adds the steps that compute the gradient of `gradients.of` with respect to each of its inputs,
// and says where these are: in order, of the inputs' dtypes and shapes. A value that is used more
// than once has the sum of what its uses give; an input on which nothing depends has zeros. With
// more than one segment, results of all but the last are computed again where gradients read them
// (core/program/recomputation.h).
// Errors (161002) name what has no gradient: a dtype, an input or output of a step, a view.
absl::StatusOr<std::vector<ValueView>> AddGradients(const ProgramGradients& gradients,
                                                    ProgramBuilder& builder, size_t segments);

}  // namespace opserve
