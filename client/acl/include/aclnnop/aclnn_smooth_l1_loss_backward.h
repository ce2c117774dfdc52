// aclnnSmoothL1LossBackward. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
#define OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// grad_input = clamp(x / beta, -1, 1) * (grad_out * k), where x = self - target and k is
// 1 / (elements of grad_input) for reduction mean, else 1. beta 0 is L1LossBackward.
//   grad_out, self, target  f32, f16 or bf16; broadcast together
//   reduction               0 none, 1 mean, 2 sum
//   beta                    >= 0, may be infinite
//   grad_input              f32, f16 or bf16; the broadcast shape
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* self, const aclTensor* target, int64_t reduction,
    float beta, aclTensor* grad_input, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnSmoothL1LossBackward(void* workspace, uint64_t workspace_size,
                                      aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
