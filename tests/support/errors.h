// Matching the errors of the contract.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/op_error.h"
#include "gtest/gtest.h"

namespace opserve::testing {

// `status` is 161001 (kParamNullptr) or 161002 (kParamInvalid), about `parameter`.
inline void ExpectError(const absl::Status& status, ErrorReason reason,
                        std::string_view parameter) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(GetErrorReasonInfo(detail->reason).name, GetErrorReasonInfo(reason).name) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
  EXPECT_FALSE(detail->op.empty()) << status;
  EXPECT_FALSE(detail->want.empty()) << status;
  EXPECT_FALSE(detail->got.empty()) << status;
}

}  // namespace opserve::testing
