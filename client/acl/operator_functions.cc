// The C functions of the operators. Phase one is a row of its header's arguments.
#include "aclnnop/aclnn_ctc_loss.h"
#include "aclnnop/aclnn_ctc_loss_backward.h"
#include "aclnnop/aclnn_group_norm.h"
#include "aclnnop/aclnn_group_norm_backward.h"
#include "aclnnop/aclnn_hardshrink.h"
#include "aclnnop/aclnn_hardshrink_backward.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "client/acl/operator_call.h"

using opserve::acl::ExecuteOperator;
using opserve::acl::GetWorkspaceSize;

aclnnStatus aclnnL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                        int64_t reduction, aclTensor* out, uint64_t* workspace_size,
                                        aclOpExecutor** executor) {
  return GetWorkspaceSize("L1Loss", {workspace_size, executor}, self, target, reduction, out);
}

aclnnStatus aclnnL1LossBackwardGetWorkspaceSize(const aclTensor* grad_output, const aclTensor* self,
                                                const aclTensor* target, int64_t reduction,
                                                aclTensor* grad_input, uint64_t* workspace_size,
                                                aclOpExecutor** executor) {
  return GetWorkspaceSize("L1LossBackward", {workspace_size, executor}, grad_output, self, target,
                          reduction, grad_input);
}

aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                              int64_t reduction, float beta, aclTensor* result,
                                              uint64_t* workspace_size, aclOpExecutor** executor) {
  return GetWorkspaceSize("SmoothL1Loss", {workspace_size, executor}, self, target, reduction, beta,
                          result);
}

aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* self, const aclTensor* target, int64_t reduction,
    float beta, aclTensor* grad_input, uint64_t* workspace_size, aclOpExecutor** executor) {
  return GetWorkspaceSize("SmoothL1LossBackward", {workspace_size, executor}, grad_out, self,
                          target, reduction, beta, grad_input);
}

aclnnStatus aclnnHardshrinkGetWorkspaceSize(const aclTensor* self, const aclScalar* lambd,
                                            aclTensor* out, uint64_t* workspace_size,
                                            aclOpExecutor** executor) {
  return GetWorkspaceSize("Hardshrink", {workspace_size, executor}, self, lambd, out);
}

aclnnStatus aclnnHardshrinkBackwardGetWorkspaceSize(const aclTensor* grad_output,
                                                    const aclTensor* self, const aclScalar* lambd,
                                                    aclTensor* grad_input, uint64_t* workspace_size,
                                                    aclOpExecutor** executor) {
  return GetWorkspaceSize("HardshrinkBackward", {workspace_size, executor}, grad_output, self,
                          lambd, grad_input);
}

aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor* self, const aclTensor* gamma,
                                           const aclTensor* beta, int64_t n, int64_t c,
                                           int64_t h_x_w, int64_t group, double eps, aclTensor* out,
                                           aclTensor* mean_out, aclTensor* rstd_out,
                                           uint64_t* workspace_size, aclOpExecutor** executor) {
  return GetWorkspaceSize("GroupNorm", {workspace_size, executor}, self, gamma, beta, n, c, h_x_w,
                          group, eps, out, mean_out, rstd_out);
}

aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* input, const aclTensor* mean, const aclTensor* rstd,
    const aclTensor* gamma, int64_t n, int64_t c, int64_t h_x_w, int64_t group,
    const aclBoolArray* output_mask, aclTensor* grad_input, aclTensor* grad_gamma_out,
    aclTensor* grad_beta_out, uint64_t* workspace_size, aclOpExecutor** executor) {
  return GetWorkspaceSize("GroupNormBackward", {workspace_size, executor}, grad_out, input, mean,
                          rstd, gamma, n, c, h_x_w, group, output_mask, grad_input, grad_gamma_out,
                          grad_beta_out);
}

aclnnStatus aclnnCtcLossGetWorkspaceSize(const aclTensor* log_probs, const aclTensor* targets,
                                         const aclIntArray* input_lengths,
                                         const aclIntArray* target_lengths, int64_t blank,
                                         bool zero_infinity, aclTensor* neg_log_likelihood_out,
                                         aclTensor* log_alpha_out, uint64_t* workspace_size,
                                         aclOpExecutor** executor) {
  return GetWorkspaceSize("CtcLoss", {workspace_size, executor}, log_probs, targets, input_lengths,
                          target_lengths, blank, zero_infinity, neg_log_likelihood_out,
                          log_alpha_out);
}

aclnnStatus aclnnCtcLossBackwardGetWorkspaceSize(
    const aclTensor* grad_out, const aclTensor* log_probs, const aclTensor* targets,
    const aclIntArray* input_lengths, const aclIntArray* target_lengths,
    const aclTensor* neg_log_likelihood, const aclTensor* log_alpha, int64_t blank,
    bool zero_infinity, aclTensor* out, uint64_t* workspace_size, aclOpExecutor** executor) {
  return GetWorkspaceSize("CtcLossBackward", {workspace_size, executor}, grad_out, log_probs,
                          targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha,
                          blank, zero_infinity, out);
}

// Phase two of every operator.
#define OPSERVE_OP(Name)                                                                     \
  aclnnStatus aclnn##Name(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, \
                          aclrtStream stream) {                                              \
    return ExecuteOperator(#Name, workspace, workspace_size, executor, stream);              \
  }
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
