// aclnnL1LossBackward. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_L1_LOSS_BACKWARD_H_
#define OPSERVE_ACL_ACLNN_L1_LOSS_BACKWARD_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// grad_input = sign(self - target) * (grad_output * k), where k is 1 / (elements of grad_input) for
// reduction mean, else 1; sign(0) and sign(NaN) are 0.
//   grad_output, self, target  f32, f16 or bf16, or an int or bool beside one of them; broadcast
//   reduction                  0 none, 1 mean, 2 sum
//   grad_input                 f32, f16 or bf16; the broadcast shape
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnL1LossBackwardGetWorkspaceSize(const aclTensor* grad_output, const aclTensor* self,
                                                const aclTensor* target, int64_t reduction,
                                                aclTensor* grad_input, uint64_t* workspace_size,
                                                aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnL1LossBackward(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_L1_LOSS_BACKWARD_H_
