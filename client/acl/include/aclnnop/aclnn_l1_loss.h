// aclnnL1Loss. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_L1_LOSS_H_
#define OPSERVE_ACL_ACLNN_L1_LOSS_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// loss = |self - target|, of each element or reduced.
//   self, target  f32, f16 or bf16, or an int or bool beside one of them; broadcast together
//   reduction     0 none, 1 mean, 2 sum
//   out           f32, f16 or bf16; the broadcast shape for none, else rank 0
// Without elements, mean is NaN and sum 0.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                        int64_t reduction, aclTensor* out, uint64_t* workspace_size,
                                        aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnL1Loss(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_L1_LOSS_H_
