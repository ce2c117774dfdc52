// aclnnSmoothL1Loss. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_H_
#define OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// loss = |x| < beta ? x * x / (2 * beta) : |x| - beta / 2, where x = self - target; of each element
// or reduced.
//   self, target  f32, f16 or bf16; broadcast together
//   reduction     0 none, 1 mean, 2 sum
//   beta          >= 0, may be infinite
//   result        f32, f16 or bf16; the broadcast shape for none, else rank 0
// Without elements, mean is NaN and sum 0.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                              int64_t reduction, float beta, aclTensor* result,
                                              uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnSmoothL1Loss(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                              aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_H_
