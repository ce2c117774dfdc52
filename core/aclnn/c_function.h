// The C functions of the operators, aclnnX and aclnnXGetWorkspaceSize, as text made of the schemas:
// what an operator's header declares, what libopserve_acl defines, and how an NPU's are called.
#pragma once

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/op/operator.h"

namespace opserve::aclnn {

// Errors, of all three: the schema's `c_order` is no order of its parameters.

// aclnnop/aclnn_<snake>.h, whole, of the operators whose functions CANN has in that header.
absl::StatusOr<std::string> Header(std::span<const Operator* const> ops, std::string_view snake);

// Definitions of aclnnXGetWorkspaceSize, which pass their arguments to GetWorkspaceSize
// (client/acl/objects/operator_call.h).
absl::StatusOr<std::string> PhaseOneFunctions(std::span<const Operator* const> ops);

// For each operator a lambda, a PhaseOne (core/backends/ascend/operators.h), parted by commas.
absl::StatusOr<std::string> PhaseOneCalls(std::span<const Operator* const> ops);

}  // namespace opserve::aclnn
