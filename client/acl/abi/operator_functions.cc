// The C functions of the operators. Phase one of each is made from its schema (core/aclnn), as are
// the headers that declare them.
#include "client/acl/objects/operator_call.h"

extern "C" {

using opserve::acl::ExecuteOperator;
using opserve::acl::GetWorkspaceSize;

#include "generated/aclnn/functions.inc"

// Phase two.
#define OPSERVE_OP(file, Name)                                                               \
  aclnnStatus aclnn##Name(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, \
                          aclrtStream stream) {                                              \
    return ExecuteOperator(#Name, workspace, workspace_size, executor, stream);              \
  }
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

}  // extern "C"
