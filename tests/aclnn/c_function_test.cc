#include "core/aclnn/c_function.h"

#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::aclnn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Operator& Find(std::string_view name) { return **FindOperator(name); }

absl::StatusOr<std::string> HeaderOfOne(const Operator& op, std::string_view snake) {
  const Operator* const ops[] = {&op};
  return Header(ops, snake);
}

std::string HeaderOf(const Operator& op) {
  const absl::StatusOr<std::string> header = HeaderOfOne(op, "x_y");
  EXPECT_THAT(header, testing::IsOk());
  return header.ok() ? *header : "";
}

TEST(CFunctionTest, ArgumentsGoInSchemaOrder) {
  EXPECT_THAT(HeaderOf(Find("GroupNorm")), HasSubstr(R"(
aclnnStatus aclnnGroupNormGetWorkspaceSize(
    const aclTensor* self,
    const aclTensor* gamma,
    const aclTensor* beta,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps,
    aclTensor* out,
    aclTensor* mean,
    aclTensor* rstd,
    uint64_t* workspace_size, aclOpExecutor** executor);
)"));
}

TEST(CFunctionTest, OrInTheFieldsOrder) {
  EXPECT_THAT(HeaderOf(Find("CtcLossBackward")), HasSubstr(R"(
    const aclTensor* targets,
    const aclIntArray* input_lengths,
    const aclIntArray* target_lengths,
    const aclTensor* neg_log_likelihood,
    const aclTensor* log_alpha,
    int64_t blank,
    bool zero_infinity,
    aclTensor* grad,
)"));
}

TEST(CFunctionTest, HeadersSayWhatTheArgumentsAre) {
  const std::string header = HeaderOf(Find("GroupNormBackward"));
  EXPECT_THAT(header, HasSubstr("#ifndef OPSERVE_ACL_ACLNN_X_Y_H_"));
  EXPECT_THAT(header, HasSubstr("gamma: scale of each channel; 1 when not given; any of C"));
  EXPECT_THAT(header, HasSubstr("may be null"));
  EXPECT_THAT(header, HasSubstr("group: number of groups; divides C; > 0"));
  EXPECT_THAT(HeaderOf(Find("L1Loss")), Not(HasSubstr("may be null")));
}

TEST(CFunctionTest, OneHeaderHasTheFunctionsOfSeveralOperators) {
  const Operator* const ops[] = {&Find("LogSigmoid"), &Find("LogSigmoidForward")};
  const absl::StatusOr<std::string> header = Header(ops, "logsigmoid");
  ASSERT_THAT(header, testing::IsOk());
  for (const char* function :
       {"aclnnStatus aclnnLogSigmoidGetWorkspaceSize(", "aclnnLogSigmoid(void*",
        "aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(", "aclnnLogSigmoidForward(void*"})
    EXPECT_THAT(*header, HasSubstr(function));
}

TEST(CFunctionTest, WhatIsChangedInItsPlaceIsOneParameter) {
  const std::string header = HeaderOf(Find("BatchNorm"));
  EXPECT_THAT(header, HasSubstr("changed in its place"));
  EXPECT_THAT(header, HasSubstr(R"(
    const aclTensor* running_mean,
    const aclTensor* running_var,
    bool training,
    double momentum,
    double eps,
    aclTensor* output,
    aclTensor* save_mean,
    aclTensor* save_invstd,
    uint64_t* workspace_size)"));
}

TEST(CFunctionTest, ANumberHasTheTypeThatTheFieldGivesIt) {
  const Operator* ops[] = {&Find("SmoothL1LossBackward")};
  EXPECT_THAT(*PhaseOneFunctions(ops), HasSubstr("    float beta,\n"));
  EXPECT_THAT(*PhaseOneCalls(ops),
              HasSubstr("return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.integer(0), "
                        "static_cast<float>(c.real(1)), c.out(0));"));
}

TEST(CFunctionTest, AChoiceMayBeGivenByName) {
  const Operator* ops[] = {&Find("GeluBackwardV2"), &Find("GeluV2")};
  EXPECT_THAT(*PhaseOneFunctions(ops), HasSubstr("    const char* approximate,\n"));
  EXPECT_THAT(*PhaseOneFunctions(ops), HasSubstr("    int64_t approximate,\n"));
  EXPECT_THAT(*PhaseOneCalls(ops), HasSubstr("c.in(0), c.in(1), c.choice(0), c.out(0));"));
}

TEST(CFunctionTest, AnAttributeMayBeNull) {
  EXPECT_THAT(HeaderOf(Find("Swish")),
              HasSubstr("beta: factor of self inside the sigmoid; may be"));
}

TEST(CFunctionTest, AnOrderHasEachParameterOnce) {
  Operator op = Find("HardshrinkBackward");
  const std::string_view short_by_one[] = {"grad_output", "self", "lambd"};
  const std::string_view twice[] = {"grad_output", "self", "self", "grad_input"};
  const std::string_view misspelt[] = {"grad_output", "self", "lambda", "grad_input"};
  const std::string_view turned[] = {"self", "grad_output", "lambd", "grad_input"};
  const std::string_view good[] = {"grad_output", "lambd", "self", "grad_input"};
  for (const std::span<const std::string_view> order :
       std::initializer_list<std::span<const std::string_view>>{short_by_one, twice, misspelt,
                                                                turned}) {
    op.c_order = order;
    const Operator* ops[] = {&op};
    testing::ExpectError(HeaderOfOne(op, "x").status(), ErrorReason::kInvalidParameter, "c_order");
    EXPECT_FALSE(PhaseOneFunctions(ops).ok());
    EXPECT_FALSE(PhaseOneCalls(ops).ok());
  }
  op.c_order = good;
  EXPECT_THAT(HeaderOfOne(op, "x"), testing::IsOk());
}

}  // namespace
}  // namespace opserve::aclnn
