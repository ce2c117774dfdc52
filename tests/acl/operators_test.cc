// The values of operators, through both phases.
#include <cmath>

#include "aclnnop/aclnn_ctc_loss.h"
#include "aclnnop/aclnn_ctc_loss_backward.h"
#include "aclnnop/aclnn_gelu_backward_v2.h"
#include "aclnnop/aclnn_group_norm.h"
#include "aclnnop/aclnn_group_norm_backward.h"
#include "aclnnop/aclnn_hardshrink.h"
#include "aclnnop/aclnn_hardshrink_backward.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_swish.h"
#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using AclOperatorsTest = AclTest;

class Scalar {
 public:
  template <typename T>
  Scalar(T value, aclDataType data_type) : scalar_(aclCreateScalar(&value, data_type)) {}
  ~Scalar() { EXPECT_EQ(aclDestroyScalar(scalar_), ACLNN_SUCCESS); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  const aclScalar* get() const { return scalar_; }

 private:
  const aclScalar* const scalar_;
};

class IntArray {
 public:
  explicit IntArray(const std::vector<int64_t>& values)
      : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~IntArray() { EXPECT_EQ(aclDestroyIntArray(array_), ACLNN_SUCCESS); }
  IntArray(const IntArray&) = delete;
  IntArray& operator=(const IntArray&) = delete;
  const aclIntArray* get() const { return array_; }

 private:
  const aclIntArray* const array_;
};

TEST_F(AclOperatorsTest, L1Loss) {
  const FloatTensor self({4}, {0, 1, 2, 4});
  const FloatTensor target({4}, {1, 1, 1, 1});
  const FloatTensor out({}, {9});
  Planned planned;
  ASSERT_EQ(aclnnL1LossGetWorkspaceSize(self.get(), target.get(), 1, out.get(),
                                        &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS);
  EXPECT_EQ(RunToEnd(aclnnL1Loss, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(1.25f));
}

TEST_F(AclOperatorsTest, L1LossBackward) {
  const FloatTensor grad({}, {2});
  const FloatTensor self({2, 2}, {0, 1, 2, 4});
  const FloatTensor target({2}, {1, 1});
  const FloatTensor out({2, 2}, {9, 9, 9, 9});
  Planned planned;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), target.get(), 1, out.get(),
                                                &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS);
  EXPECT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(-0.5f, 0, 0.5f, 0.5f));
}

TEST_F(AclOperatorsTest, AReducedKlDivIsAScalarOrOneElement) {
  const FloatTensor self({2, 2}, {-1, -2, -1, -2});
  const FloatTensor target({2, 2}, {0, 1, 0, 1});
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    const FloatTensor out(shape, {9});
    Planned planned;
    ASSERT_EQ(aclnnKlDivGetWorkspaceSize(self.get(), target.get(), 2, false, out.get(),
                                         &planned.workspace_size, &planned.executor),
              ACLNN_SUCCESS);
    EXPECT_EQ(RunToEnd(aclnnKlDiv, planned), ACL_SUCCESS);
    EXPECT_THAT(out.Read(), ElementsAre(4));
  }
  const FloatTensor two({2}, {9, 9});
  Planned planned;
  EXPECT_EQ(aclnnKlDivGetWorkspaceSize(self.get(), target.get(), 2, false, two.get(),
                                       &planned.workspace_size, &planned.executor),
            ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclOperatorsTest, SmoothL1Loss) {
  const FloatTensor self({3}, {0, 1.5f, 5});
  const FloatTensor target({3}, {1, 1, 1});
  const FloatTensor out({3}, {9, 9, 9});
  Planned planned;
  ASSERT_EQ(aclnnSmoothL1LossGetWorkspaceSize(self.get(), target.get(), 0, 1.0f, out.get(),
                                              &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS);
  EXPECT_EQ(RunToEnd(aclnnSmoothL1Loss, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(0.5f, 0.125f, 3.5f));
}

TEST_F(AclOperatorsTest, SmoothL1LossBackward) {
  const FloatTensor ones({4, 2}, std::vector<float>(8, 1));
  const FloatTensor self({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const FloatTensor target({4, 2}, std::vector<float>(8, 1));
  const FloatTensor out({4, 2}, std::vector<float>(8, 9));
  Planned planned;
  ASSERT_EQ(aclnnSmoothL1LossBackwardGetWorkspaceSize(ones.get(), self.get(), target.get(), 0, 1.0f,
                                                      out.get(), &planned.workspace_size,
                                                      &planned.executor),
            ACLNN_SUCCESS);
  EXPECT_EQ(RunToEnd(aclnnSmoothL1LossBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
}

TEST_F(AclOperatorsTest, Hardshrink) {
  const FloatTensor self({4}, {-2, -0.5f, 0.25f, 3});
  const FloatTensor out({4}, {9, 9, 9, 9});
  const Scalar lambd(0.5, ACL_DOUBLE);
  Planned planned;
  ASSERT_EQ(aclnnHardshrinkGetWorkspaceSize(self.get(), lambd.get(), out.get(),
                                            &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS);
  EXPECT_EQ(RunToEnd(aclnnHardshrink, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(-2, 0, 0, 3));
}

TEST_F(AclOperatorsTest, HardshrinkBackwardTakesAnyScalar) {
  const FloatTensor grad({4}, {1, 2, 3, 4});
  const FloatTensor self({4}, {-2, -1, 0.25f, 3});
  const FloatTensor out({4}, {9, 9, 9, 9});
  const Scalar scalars[] = {{1.0f, ACL_FLOAT},
                            {1.0, ACL_DOUBLE},
                            {int64_t{1}, ACL_INT64},
                            {int8_t{1}, ACL_INT8},
                            {uint16_t{0x3C00}, ACL_FLOAT16},
                            {uint16_t{0x3F80}, ACL_BF16},
                            {true, ACL_BOOL},
                            {uint32_t{1}, ACL_UINT32}};
  for (const Scalar& lambd : scalars) {
    Planned planned;
    ASSERT_EQ(
        aclnnHardshrinkBackwardGetWorkspaceSize(grad.get(), self.get(), lambd.get(), out.get(),
                                                &planned.workspace_size, &planned.executor),
        ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(RunToEnd(aclnnHardshrinkBackward, planned), ACL_SUCCESS);
    EXPECT_THAT(out.Read(), ElementsAre(1, 0, 0, 4));
  }
}

TEST_F(AclOperatorsTest, HardshrinkBackwardOfNothingWritesNothing) {
  const FloatTensor grad({0}, {});
  const FloatTensor self({3}, {1, 2, 3});
  const FloatTensor out({3}, {9, 9, 9});
  const Scalar lambd(0.5f, ACL_FLOAT);
  Planned planned;
  ASSERT_EQ(aclnnHardshrinkBackwardGetWorkspaceSize(grad.get(), self.get(), lambd.get(), out.get(),
                                                    &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(planned.workspace_size, 0u);
  EXPECT_EQ(RunToEnd(aclnnHardshrinkBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(out.Read(), ElementsAre(9, 9, 9));
}

TEST_F(AclOperatorsTest, GeluBackwardV2TakesTheNameOfItsForm) {
  const FloatTensor grad({2}, {1, 1});
  const FloatTensor self({2}, {1, -1});
  const FloatTensor out({2}, {9, 9});
  const auto plan = [&](const char* approximate, Planned& planned) {
    return aclnnGeluBackwardV2GetWorkspaceSize(grad.get(), self.get(), approximate, out.get(),
                                               &planned.workspace_size, &planned.executor);
  };
  const std::pair<const char*, std::vector<float>> forms[] = {{"none", {1.083315f, -0.083315f}},
                                                              {"tanh", {1.082964f, -0.082964f}}};
  for (const auto& [name, gradient] : forms) {
    Planned planned;
    ASSERT_EQ(plan(name, planned), ACLNN_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(RunToEnd(aclnnGeluBackwardV2, planned), ACL_SUCCESS);
    EXPECT_THAT(out.Read(), Pointwise(FloatNear(1e-6f), gradient));
  }
  Planned refused;
  EXPECT_EQ(plan(nullptr, refused), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(plan("erf", refused), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(),
              HasSubstr("approximate: want 0 (none) or 1 (tanh), got \"erf\""));
}

TEST_F(AclOperatorsTest, SwishMayHaveNoBeta) {
  const FloatTensor self({2}, {0, 1});
  const FloatTensor out({2}, {9, 9});
  const Scalar two(2.0f, ACL_FLOAT);
  for (const auto& [beta, second] :
       {std::pair<const aclScalar*, float>{nullptr, 0.731059f}, {two.get(), 0.880797f}}) {
    Planned planned;
    ASSERT_EQ(aclnnSwishGetWorkspaceSize(self.get(), beta, out.get(), &planned.workspace_size,
                                         &planned.executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(RunToEnd(aclnnSwish, planned), ACL_SUCCESS);
    EXPECT_THAT(out.Read(), Pointwise(FloatNear(1e-6f), std::vector<float>{0, second}));
  }
}

// N = 1, C = 2, HxW = 4, two groups: values 1 2 3 4 and 5 7 5 7.
struct GroupNormTensors {
  FloatTensor input{{1, 2, 4}, {1, 2, 3, 4, 5, 7, 5, 7}};
  FloatTensor gamma{{2}, {1, 2}};
  FloatTensor out{{1, 2, 4}, std::vector<float>(8, 9)};
  FloatTensor mean{{1, 2}, {9, 9}};
  FloatTensor rstd{{1, 2}, {9, 9}};
};

void RunGroupNorm(const GroupNormTensors& tensors) {
  Planned planned;
  ASSERT_EQ(aclnnGroupNormGetWorkspaceSize(tensors.input.get(), tensors.gamma.get(), nullptr, 1, 2,
                                           4, 2, 1e-12, tensors.out.get(), tensors.mean.get(),
                                           tensors.rstd.get(), &planned.workspace_size,
                                           &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnGroupNorm, planned), ACL_SUCCESS);
}

TEST_F(AclOperatorsTest, GroupNorm) {
  const GroupNormTensors tensors;
  RunGroupNorm(tensors);
  const float r = 1 / std::sqrt(1.25f);
  EXPECT_THAT(tensors.out.Read(),
              Pointwise(FloatNear(1e-5f),
                        {-1.5f * r, -0.5f * r, 0.5f * r, 1.5f * r, -2.0f, 2.0f, -2.0f, 2.0f}));
  EXPECT_THAT(tensors.mean.Read(), ElementsAre(2.5f, 6));
  EXPECT_THAT(tensors.rstd.Read(), Pointwise(FloatNear(1e-5f), {r, 1.0f}));
}

class BoolArray {
 public:
  BoolArray(std::initializer_list<bool> values)
      : array_(aclCreateBoolArray(values.begin(), values.size())) {}
  ~BoolArray() { EXPECT_EQ(aclDestroyBoolArray(array_), ACLNN_SUCCESS); }
  BoolArray(const BoolArray&) = delete;
  BoolArray& operator=(const BoolArray&) = delete;
  const aclBoolArray* get() const { return array_; }

 private:
  const aclBoolArray* const array_;
};

TEST_F(AclOperatorsTest, GroupNormBackward) {
  const GroupNormTensors tensors;
  RunGroupNorm(tensors);
  const FloatTensor grad({1, 2, 4}, {1, 0, 0, 0, 1, 1, 1, 1});
  const FloatTensor grad_input({1, 2, 4}, std::vector<float>(8, 9));
  const FloatTensor grad_gamma({2}, {9, 9});
  const FloatTensor grad_beta({2}, {9, 9});
  const BoolArray all({true, true, true});
  Planned planned;
  ASSERT_EQ(aclnnGroupNormBackwardGetWorkspaceSize(
                grad.get(), tensors.input.get(), tensors.mean.get(), tensors.rstd.get(),
                tensors.gamma.get(), 1, 2, 4, 2, all.get(), grad_input.get(), grad_gamma.get(),
                grad_beta.get(), &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnGroupNormBackward, planned), ACL_SUCCESS);
  const float r = 1 / std::sqrt(1.25f);
  // dy - mean(dy) - x^ * mean(dy * x^), times rstd and gamma; x^_0 = -1.5 r.
  const auto expected = [r](float dy, float x) {
    return r * (dy - 0.25f - (x - 2.5f) * r * (-1.5f * r / 4));
  };
  EXPECT_THAT(grad_input.Read(),
              Pointwise(FloatNear(1e-5f), {expected(1, 1), expected(0, 2), expected(0, 3),
                                           expected(0, 4), 0.0f, 0.0f, 0.0f, 0.0f}));
  EXPECT_THAT(grad_gamma.Read(), Pointwise(FloatNear(1e-5f), {-1.5f * r, 0.0f}));
  EXPECT_THAT(grad_beta.Read(), ElementsAre(1, 4));
}

TEST_F(AclOperatorsTest, GroupNormBackwardLeavesOutWhatIsMasked) {
  const GroupNormTensors tensors;
  RunGroupNorm(tensors);
  const FloatTensor grad_gamma({2}, {9, 9});
  const FloatTensor grad_beta({2}, {9, 9});
  const auto plan = [&](const aclBoolArray* mask, aclTensor* beta, Planned& planned) {
    return aclnnGroupNormBackwardGetWorkspaceSize(
        tensors.out.get(), tensors.input.get(), tensors.mean.get(), tensors.rstd.get(), nullptr, 1,
        2, 4, 2, mask, nullptr, grad_gamma.get(), beta, &planned.workspace_size, &planned.executor);
  };
  Planned planned;
  const BoolArray beta_alone({false, false, true});
  ASSERT_EQ(plan(beta_alone.get(), grad_beta.get(), planned), ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnGroupNormBackward, planned), ACL_SUCCESS);
  EXPECT_THAT(grad_gamma.Read(), ElementsAre(9, 9));
  EXPECT_THAT(grad_beta.Read(), Pointwise(FloatNear(1e-5f), {0.0f, 0.0f}));
  EXPECT_EQ(plan(beta_alone.get(), nullptr, planned), ACLNN_ERR_PARAM_INVALID);
  EXPECT_THAT(aclGetRecentErrMsg(),
              HasSubstr("GroupNormBackward: grad_beta: want a tensor, as output_mask asks for it"));
  const BoolArray two({true, true});
  EXPECT_EQ(plan(two.get(), grad_beta.get(), planned), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(plan(nullptr, grad_beta.get(), planned), ACLNN_ERR_PARAM_NULLPTR);
}

// T = 2, N = 1, C = 3, label 1 of length 1; all probabilities 1/3. Paths: (1,1), (blank,1),
// (1,blank): 3/9.
struct CtcTensors {
  FloatTensor log_probs{{2, 1, 3}, std::vector<float>(6, std::log(1 / 3.0f))};
  IntArray input_lengths{{2}};
  IntArray target_lengths{{1}};
  FloatTensor loss{{1}, {9}};
  FloatTensor log_alpha{{1, 2, 3}, std::vector<float>(6, 9)};
};

void RunCtcLoss(const CtcTensors& tensors, const aclTensor* targets) {
  Planned planned;
  ASSERT_EQ(aclnnCtcLossGetWorkspaceSize(tensors.log_probs.get(), targets,
                                         tensors.input_lengths.get(), tensors.target_lengths.get(),
                                         0, false, tensors.loss.get(), tensors.log_alpha.get(),
                                         &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(RunToEnd(aclnnCtcLoss, planned), ACL_SUCCESS);
}

Planned PlanCtcBackward(const CtcTensors& tensors, const aclTensor* targets, const aclTensor* grad,
                        aclTensor* out) {
  Planned planned;
  EXPECT_EQ(aclnnCtcLossBackwardGetWorkspaceSize(
                grad, tensors.log_probs.get(), targets, tensors.input_lengths.get(),
                tensors.target_lengths.get(), tensors.loss.get(), tensors.log_alpha.get(), 0, false,
                out, &planned.workspace_size, &planned.executor),
            ACLNN_SUCCESS)
      << aclGetRecentErrMsg();
  return planned;
}

TEST_F(AclOperatorsTest, CtcLossAndBackward) {
  const CtcTensors tensors;
  const DeviceTensor<int64_t> targets(ACL_INT64, {1, 1}, {1});
  RunCtcLoss(tensors, targets.get());
  EXPECT_THAT(tensors.loss.Read(), Pointwise(FloatNear(1e-5f), {std::log(3.0f)}));
  const FloatTensor grad({1}, {1});
  const FloatTensor out({2, 1, 3}, std::vector<float>(6, 9));
  const Planned planned = PlanCtcBackward(tensors, targets.get(), grad.get(), out.get());
  EXPECT_EQ(RunToEnd(aclnnCtcLossBackward, planned), ACL_SUCCESS);
  // softmax 1/3 minus the paths' share of each class: 1/3 blank, 2/3 the label, 0 the other.
  const float third = 1 / 3.0f;
  EXPECT_THAT(out.Read(), Pointwise(FloatNear(1e-5f), {0.0f, -third, third, 0.0f, -third, third}));
}

TEST_F(AclOperatorsTest, ALabelOutOfRangeIsTheStreamsError) {
  const CtcTensors tensors;
  const DeviceTensor<int32_t> targets(ACL_INT32, {1, 1}, {1});
  RunCtcLoss(tensors, targets.get());
  const FloatTensor grad({1}, {1});
  const FloatTensor out({2, 1, 3}, std::vector<float>(6, 9));
  const int32_t label = 3;
  ASSERT_EQ(aclrtMemcpy(targets.data(), 4, &label, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const Planned planned = PlanCtcBackward(tensors, targets.get(), grad.get(), out.get());
  EXPECT_EQ(RunToEnd(aclnnCtcLossBackward, planned), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("CtcLossBackward: targets: want"));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "it is told once";
  EXPECT_EQ(aclrtMemsetAsync(out.data(), 24, 0, 24, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "the stream goes on";
}

// The same call again, too: its answer may be known.
TEST_F(AclOperatorsTest, LayerNormWithoutStatistics) {
  const FloatTensor input({2, 2}, {1, 3, -5, 5});
  const IntArray normalized({2});
  const FloatTensor out({2, 2}, {9, 9, 9, 9});
  for (int i = 0; i < 2; ++i) {
    Planned planned;
    ASSERT_EQ(aclnnLayerNormGetWorkspaceSize(input.get(), normalized.get(), nullptr, nullptr, 0,
                                             out.get(), nullptr, nullptr, &planned.workspace_size,
                                             &planned.executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(RunToEnd(aclnnLayerNorm, planned), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_THAT(out.Read(), ElementsAre(-1, 1, -1, 1));
    EXPECT_EQ(aclrtMemset(out.data(), out.bytes(), 0, out.bytes()), ACL_SUCCESS);
  }
}

}  // namespace
}  // namespace opserve::acl_test
