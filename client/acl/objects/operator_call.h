// The two phases behind the C functions of the operators.
#pragma once

#include <cstdint>
#include <string_view>

#include "aclnn/aclnn_base.h"
#include "client/acl/objects/call_builder.h"
#include "client/acl/objects/thread_state.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"

namespace opserve::acl {

// Where phase one's results go.
struct PlanOutputs {
  uint64_t* workspace_size;
  aclOpExecutor** executor;
};

absl::Status CheckPlanOutputs(const PlanOutputs& outputs, std::string_view op);
absl::Status MakeExecutor(CallBuilder& builder, std::string_view op, const PlanOutputs& outputs);

// Phase one; `arguments` are those of the C function, up to the out-parameters.
template <typename... Arguments>
aclnnStatus GetWorkspaceSize(std::string_view op, const PlanOutputs& outputs,
                             Arguments... arguments) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckPlanOutputs(outputs, op));
    OPSERVE_ASSIGN_OR_RETURN(const Operator* schema, FindOperator(op));
    CallBuilder builder(*schema);
    (builder.Add(arguments), ...);
    builder.AddOutputsInPlace();
    return MakeExecutor(builder, op, outputs);
  });
}

// Phase two.
aclnnStatus ExecuteOperator(std::string_view op, void* workspace, uint64_t workspace_size,
                            aclOpExecutor* executor, aclrtStream stream);

}  // namespace opserve::acl
