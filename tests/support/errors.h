// Matching the errors of the contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/op_error.h"
#include "gtest/gtest.h"

namespace opserve::testing {

// aclnn's codes of a bad argument. Several reasons have the second.
inline constexpr int32_t kParamNullptr = 161001;
inline constexpr int32_t kParamInvalid = 161002;

inline int32_t AclnnCode(const ErrorDetail& detail) {
  return GetErrorReasonInfo(detail.reason).aclnn_code;
}

// `status` is about `parameter`, says what was wanted and what came, and has this aclnn code.
inline void ExpectError(const absl::Status& status, int32_t code, std::string_view parameter) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(AclnnCode(*detail), code) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
  EXPECT_FALSE(detail->op.empty()) << status;
  EXPECT_FALSE(detail->want.empty()) << status;
  EXPECT_FALSE(detail->got.empty()) << status;
}

// Likewise, for this reason.
inline void ExpectError(const absl::Status& status, ErrorReason reason,
                        std::string_view parameter) {
  ExpectError(status, GetErrorReasonInfo(reason).aclnn_code, parameter);
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(GetErrorReasonInfo(detail->reason).name, GetErrorReasonInfo(reason).name) << status;
}

}  // namespace opserve::testing
