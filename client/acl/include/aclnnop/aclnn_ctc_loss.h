// aclnnCtcLoss. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_CTC_LOSS_H_
#define OPSERVE_ACL_ACLNN_CTC_LOSS_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Connectionist temporal classification loss: -log of the probability of the labels over all
// alignments, and the forward variables that make it.
//   log_probs        f32 or f64; (T, N, C), T > 0, logarithms of probabilities
//   targets          int64, int32, bool, f32 or f16, whole numbers in [0, C); (N, >= the longest
//                    target) padded, or (sum of target_lengths)
//   input_lengths    N numbers, 0 to T
//   target_lengths   N numbers, >= 0
//   blank            the class that stands for no label, in [0, C)
//   zero_infinity    changes nothing here: an infinite loss stays infinite
//   neg_log_likelihood_out  log_probs' dtype; (N)
//   log_alpha_out    log_probs' dtype; (N, T, >= 2 * the longest target + 1)
// A label out of range is found when the data is there: the stream's next synchronization fails.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnCtcLossGetWorkspaceSize(const aclTensor* log_probs, const aclTensor* targets,
                                         const aclIntArray* input_lengths,
                                         const aclIntArray* target_lengths, int64_t blank,
                                         bool zero_infinity, aclTensor* neg_log_likelihood_out,
                                         aclTensor* log_alpha_out, uint64_t* workspace_size,
                                         aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnCtcLoss(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_CTC_LOSS_H_
