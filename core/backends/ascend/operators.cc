#include "core/backends/ascend/operators.h"

#include "core/op/op_table.h"

namespace opserve::ascend {
namespace {

// The types of `arguments` are those of the C function's parameters.
template <typename... Arguments>
int32_t Plan(void* function, uint64_t* workspace_bytes, AclExecutor** executor,
             Arguments... arguments) {
  using Function = int32_t(Arguments..., uint64_t*, AclExecutor**);
  return reinterpret_cast<Function*>(function)(arguments..., workspace_bytes, executor);
}

// In the order of AllOperators; made from the schemas (core/aclnn).
constexpr PhaseOne kPhaseOnes[] = {
#include "generated/aclnn/calls.inc"
};

}  // namespace

PhaseOne PhaseOneOf(const Operator& op) { return kPhaseOnes[OperatorIndex(op)]; }

}  // namespace opserve::ascend
