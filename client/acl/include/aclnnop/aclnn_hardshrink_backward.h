// aclnnHardshrinkBackward. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_HARDSHRINK_BACKWARD_H_
#define OPSERVE_ACL_ACLNN_HARDSHRINK_BACKWARD_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// grad_input = |self| <= lambd ? 0 : grad_output. A NaN self or lambd lets the gradient pass.
//   grad_output, self  f32, f16 or bf16; broadcast together
//   lambd              of any real type; below 0 it counts as 0
//   grad_input         f32, f16 or bf16; the broadcast shape
// An empty input succeeds whatever the shapes are, and nothing is written.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnHardshrinkBackwardGetWorkspaceSize(const aclTensor* grad_output,
                                                    const aclTensor* self, const aclScalar* lambd,
                                                    aclTensor* grad_input, uint64_t* workspace_size,
                                                    aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnHardshrinkBackward(void* workspace, uint64_t workspace_size,
                                    aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_HARDSHRINK_BACKWARD_H_
