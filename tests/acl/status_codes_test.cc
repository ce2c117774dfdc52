// What core's errors become in the C interface.
#include "client/acl/objects/status_codes.h"

#include <gtest/gtest.h>

#include "aclnn/aclnn_base.h"
#include "core/base/op_error.h"

namespace opserve::acl {
namespace {

absl::Status ErrorOf(ErrorReason reason) {
  return MakeError(
      {.reason = reason, .op = "Op", .parameter = "it", .want = "one", .got = "another"});
}

TEST(StatusCodesTest, ReasonsAreCodesOfTheRuntime) {
  const struct {
    ErrorReason reason;
    aclError code;
  } rows[] = {
      {ErrorReason::kMissingParameter, ACL_ERROR_INVALID_PARAM},
      {ErrorReason::kInvalidParameter, ACL_ERROR_RT_PARAM_INVALID},
      {ErrorReason::kInternal, ACL_ERROR_INTERNAL_ERROR},
      {ErrorReason::kOperatorNotFound, ACL_ERROR_API_NOT_SUPPORT},
      {ErrorReason::kOperatorUnsupported, ACL_ERROR_API_NOT_SUPPORT},
      {ErrorReason::kNoSharedMemory, ACL_ERROR_API_NOT_SUPPORT},
      {ErrorReason::kUnauthenticated, ACL_ERROR_API_NOT_SUPPORT},
      {ErrorReason::kPermissionDenied, ACL_ERROR_API_NOT_SUPPORT},
      {ErrorReason::kDeviceNotFound, ACL_ERROR_RT_INVALID_DEVICEID},
      {ErrorReason::kResourceLimit, ACL_ERROR_RT_MEMORY_ALLOCATION},
      {ErrorReason::kDeviceError, ACL_ERROR_RT_AICORE_EXCEPTION},
      {ErrorReason::kDeviceLost, ACL_ERROR_RT_AICORE_EXCEPTION},
      {ErrorReason::kCancelled, ACL_ERROR_RT_AICORE_EXCEPTION},
  };
  for (const auto& [reason, code] : rows)
    EXPECT_EQ(RuntimeCode(ErrorOf(reason)), code) << GetErrorReasonInfo(reason).name;
  EXPECT_EQ(RuntimeCode(absl::OkStatus()), ACL_SUCCESS);
}

TEST(StatusCodesTest, StatusesWithoutAReason) {
  EXPECT_EQ(RuntimeCode(absl::ResourceExhaustedError("")), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(RuntimeCode(absl::InternalError("")), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(RuntimeCode(absl::UnavailableError("")), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(RuntimeCode(Failure(ACL_ERROR_RT_CONTEXT_NULL, "")), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST(StatusCodesTest, OperatorsHaveCodesOfTheirOwn) {
  EXPECT_EQ(OperatorCode(absl::OkStatus()), ACLNN_SUCCESS);
  EXPECT_EQ(OperatorCode(ErrorOf(ErrorReason::kMissingParameter)), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(OperatorCode(ErrorOf(ErrorReason::kInvalidParameter)), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(OperatorCode(ErrorOf(ErrorReason::kDeviceNotFound)), ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_EQ(OperatorCode(Failure(ACLNN_ERR_PARAM_NULLPTR, "")), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(OperatorCode(Failure(ACL_ERROR_RT_CONTEXT_NULL, "")), ACLNN_ERR_RUNTIME_ERROR);
}

}  // namespace
}  // namespace opserve::acl
