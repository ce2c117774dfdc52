// aclnnGroupNormBackward. How the two phases go and what they return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_GROUP_NORM_BACKWARD_H_
#define OPSERVE_ACL_ACLNN_GROUP_NORM_BACKWARD_H_

// C, and the field's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Gradients of GroupNorm with respect to its input, gamma and beta; docs/operators.md has the
// formulas.
//   grad_out, input  f32, f16 or bf16, as all others; any shape of N * C * HxW elements
//   mean, rstd       N * group elements each, as GroupNorm gives them
//   gamma            C elements; null: 1
//   N, C, HxW        extents, >= 0
//   group            > 0, divides C
//   output_mask      3 bools: which of the outputs are computed; the others may be null, and are
//   not
//                    written
//   grad_input       input's shape
//   grad_gamma_out, grad_beta_out  gamma's shape, or (C)
// 161002 also for an output that is null and wanted.
//
// `workspace_size`: bytes of device memory that phase two wants.
aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* input, const aclTensor* mean, const aclTensor* rstd,
    const aclTensor* gamma, int64_t n, int64_t c, int64_t h_x_w, int64_t group,
    const aclBoolArray* output_mask, aclTensor* grad_input, aclTensor* grad_gamma_out,
    aclTensor* grad_beta_out, uint64_t* workspace_size, aclOpExecutor** executor);

// Phase two.
aclnnStatus aclnnGroupNormBackward(void* workspace, uint64_t workspace_size,
                                   aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_GROUP_NORM_BACKWARD_H_
