#include "core/base/op_error.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

TEST(OpErrorTest, SaysWhatWasWantedAndWhatCame) {
  const absl::Status status =
      WithOperator(InvalidParameter("beta", ">= 0", "-1"), "SmoothL1LossBackward");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), "SmoothL1LossBackward: beta: want >= 0, got -1");
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason, ErrorReason::kInvalidParameter);
  EXPECT_EQ(detail->op, "SmoothL1LossBackward");
  EXPECT_EQ(detail->parameter, "beta");
  EXPECT_EQ(detail->want, ">= 0");
  EXPECT_EQ(detail->got, "-1");
}

TEST(OpErrorTest, AnyTextSurvivesThePayload) {
  const std::string odd("5:\x00\xff:x", 6);
  const ErrorDetail detail = {ErrorReason::kDeviceError, odd, "", odd, "12:"};
  const std::optional<ErrorDetail> back = GetErrorDetail(MakeError(detail));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->op, odd);
  EXPECT_EQ(back->parameter, "");
  EXPECT_EQ(back->want, odd);
  EXPECT_EQ(back->got, "12:");
}

TEST(OpErrorTest, TheFirstOperatorStays) {
  const absl::Status inner = WithOperator(MissingParameter("self", "a tensor"), "A");
  EXPECT_EQ(GetErrorDetail(WithOperator(inner, "B"))->op, "A");
}

TEST(OpErrorTest, ForeignStatusesStayAsTheyAre) {
  EXPECT_FALSE(GetErrorDetail(absl::OkStatus()).has_value());
  EXPECT_EQ(WithOperator(absl::InternalError("x"), "A"), absl::InternalError("x"));
}

TEST(OpErrorTest, EveryReasonHasItsRow) {
  for (size_t i = 0; i < ErrorReasons().size(); ++i) {
    const ErrorReasonInfo& info = ErrorReasons()[i];
    EXPECT_EQ(static_cast<size_t>(info.reason), i);
    EXPECT_FALSE(info.when.empty());
    EXPECT_EQ(MakeError({.reason = info.reason}).code(), info.status_code);
  }
  EXPECT_EQ(GetErrorReasonInfo(ErrorReason::kMissingParameter).aclnn_code, 161001);
  EXPECT_EQ(GetErrorReasonInfo(ErrorReason::kInvalidParameter).aclnn_code, 161002);
  EXPECT_EQ(GetErrorReasonInfo(ErrorReason::kDeviceError).aclnn_code, 361001);
}

TEST(OpErrorTest, AnUnsharedCopyIsTheSameError) {
  const absl::Status status = InvalidParameter("beta", ">= 0", "-1");
  EXPECT_EQ(Unshared(status), status);
  EXPECT_EQ(GetErrorDetail(Unshared(status))->parameter, "beta");
  EXPECT_THAT(Unshared(absl::OkStatus()), testing::IsOk());
}

TEST(OpErrorTest, ARefusalSaysWhenToTryAgain) {
  ErrorDetail detail{.reason = ErrorReason::kResourceLimit, .retry_after = absl::Milliseconds(20)};
  const absl::Status status = WithOperator(MakeError(detail), "L1Loss");
  EXPECT_EQ(GetErrorDetail(status)->retry_after, absl::Milliseconds(20));
  EXPECT_EQ(GetErrorDetail(InvalidParameter("a", "b", "c"))->retry_after, std::nullopt);
}

}  // namespace
}  // namespace opserve
