// aclnnHardshrink. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_HARDSHRINK_H_
#define OPSERVE_ACL_ACLNN_HARDSHRINK_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// out = |self| <= lambd ? 0 : self.
//   self   f32, f16 or bf16
//   lambd  of any real type; below 0 it counts as 0
//   out    f32, f16 or bf16; self's shape
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnHardshrinkGetWorkspaceSize(const aclTensor* self, const aclScalar* lambd,
                                            aclTensor* out, uint64_t* workspace_size,
                                            aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnHardshrink(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_HARDSHRINK_H_
