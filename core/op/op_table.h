// Finding operators by name. The table is core/op/builtin_ops.inc, in code: no registration at
// start-up.
#pragma once

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/op/operator.h"

namespace opserve {

// All operators, in the order of builtin_ops.inc.
std::span<const Operator* const> AllOperators();

// What the operator belongs to, as the table says it: "Losses".
std::string_view FamilyOf(const Operator& op);

// NOT_FOUND with the nearest name when there is none.
absl::StatusOr<const Operator*> FindOperator(std::string_view name);

// Position in AllOperators, by which backends order their kernels.
size_t OperatorIndex(const Operator& op);

}  // namespace opserve
