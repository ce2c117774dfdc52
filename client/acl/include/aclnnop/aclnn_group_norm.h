// aclnnGroupNorm. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_GROUP_NORM_H_
#define OPSERVE_ACL_ACLNN_GROUP_NORM_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// out = (self - mean) * rstd * gamma + beta, where mean and rstd = 1 / sqrt(variance + eps) are
// those of the C / group channels of a group.
//   self               f32, f16 or bf16, as all others; any shape of N * C * HxW elements
//   gamma, beta        C elements each; null: 1 and 0
//   N, C, HxW          extents, >= 0
//   group              > 0, divides C
//   eps                > 0
//   out                self's shape
//   mean_out, rstd_out (N, group)
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor* self, const aclTensor* gamma,
                                           const aclTensor* beta, int64_t n, int64_t c,
                                           int64_t h_x_w, int64_t group, double eps, aclTensor* out,
                                           aclTensor* mean_out, aclTensor* rstd_out,
                                           uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnGroupNorm(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_GROUP_NORM_H_
