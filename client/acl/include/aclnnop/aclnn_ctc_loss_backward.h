// aclnnCtcLossBackward. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_CTC_LOSS_BACKWARD_H_
#define OPSERVE_ACL_ACLNN_CTC_LOSS_BACKWARD_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Gradient of CtcLoss with respect to the logits of which log_softmax made log_probs.
//   grad_out            f32 or f64, as all but targets; (N)
//   log_probs           (T, N, C), T > 0
//   targets             int64, int32, bool, f32 or f16, whole numbers in [0, C); (N, >= the longest
//                       target) padded, or (sum of target_lengths)
//   input_lengths       N numbers, 0 to T
//   target_lengths      N numbers, >= 0
//   neg_log_likelihood  (N), as CtcLoss gives it
//   log_alpha           (N, T, >= 2 * the longest target + 1), likewise
//   blank               the class that stands for no label, in [0, C)
//   zero_infinity       whether samples of infinite loss have gradient 0, not NaN
//   out                 (T, N, C)
// A label out of range is found when the data is there: the stream's next synchronization fails.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnCtcLossBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* log_probs, const aclTensor* targets,
    const aclIntArray* input_lengths, const aclIntArray* target_lengths,
    const aclTensor* neg_log_likelihood, const aclTensor* log_alpha, int64_t blank,
    bool zero_infinity, aclTensor* out, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnCtcLossBackward(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_CTC_LOSS_BACKWARD_H_
