#include "client/cpp/wire/status_details.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

google::rpc::ErrorInfo Info(std::string_view reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain("opserve.dev");
  (*info.mutable_metadata())["code"] = "161002";
  (*info.mutable_metadata())["operator"] = "Op";
  (*info.mutable_metadata())["parameter"] = "beta";
  (*info.mutable_metadata())["want"] = ">= 0";
  (*info.mutable_metadata())["got"] = "-1";
  return info;
}

std::string Details(const google::rpc::ErrorInfo& info,
                    const std::string& type_url = "type.googleapis.com/google.rpc.ErrorInfo") {
  google::rpc::Status details;
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url(type_url);
  any.set_value(info.SerializeAsString());
  return details.SerializeAsString();
}

TEST(StatusDetailsTest, DecodesEveryReason) {
  for (const ErrorReasonInfo& row : ErrorReasons()) {
    const absl::Status status =
        StatusFromWire(static_cast<int>(row.status_code), "text", Details(Info(row.name)));
    EXPECT_EQ(status.code(), row.status_code);
    EXPECT_EQ(status.message(), "text");
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << row.name;
    EXPECT_EQ(detail->reason, row.reason);
    EXPECT_EQ(detail->op, "Op");
    EXPECT_EQ(detail->parameter, "beta");
    EXPECT_EQ(detail->want, ">= 0");
    EXPECT_EQ(detail->got, "-1");
  }
}

TEST(StatusDetailsTest, ReasonsOfNewerServersAreTheirCodes) {
  for (const ErrorReason general : {ErrorReason::kMissingParameter, ErrorReason::kInvalidParameter,
                                    ErrorReason::kDeviceError, ErrorReason::kInternal}) {
    google::rpc::ErrorInfo info = Info("NEWER_REASON");
    (*info.mutable_metadata())["code"] = absl::StrCat(GetErrorReasonInfo(general).aclnn_code);
    const std::optional<ErrorDetail> detail =
        GetErrorDetail(StatusFromWire(3, "text", Details(info)));
    ASSERT_TRUE(detail.has_value());
    EXPECT_EQ(detail->reason, general);
    EXPECT_EQ(detail->parameter, "beta");
  }
}

TEST(StatusDetailsTest, TheWiresCodeWins) {
  const absl::Status status = StatusFromWire(14, "device gone", Details(Info("DEVICE_ERROR")));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kDeviceError);
}

TEST(StatusDetailsTest, ReadsWhenToTryAgain) {
  const auto wait = [](int64_t seconds, int32_t nanoseconds) {
    google::rpc::Status details;
    details.set_code(8);
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(seconds);
    retry.mutable_retry_delay()->set_nanos(nanoseconds);
    details.add_details()->PackFrom(retry);
    details.add_details()->PackFrom(Info("RESOURCE_LIMIT"));
    return GetErrorDetail(StatusFromWire(details))->retry_after;
  };
  EXPECT_EQ(wait(0, 250000000), absl::Milliseconds(250));
  EXPECT_EQ(wait(2, 0), absl::Seconds(2));
  EXPECT_EQ(wait(0, 0), absl::ZeroDuration());
  EXPECT_EQ(wait(-1, 0), std::nullopt);
  EXPECT_EQ(wait(0, -1), std::nullopt);
  EXPECT_EQ(wait(std::numeric_limits<int64_t>::max(), 0), kMaxRetryAfter);
}

TEST(StatusDetailsTest, TextsMayBePrinted) {
  google::rpc::ErrorInfo info = Info("INVALID_PARAMETER");
  (*info.mutable_metadata())["want"] = "\x1b[2J";
  (*info.mutable_metadata())["got"] = std::string(10000, '\x7f');
  const absl::Status status =
      StatusFromWire(3, "no\n" + std::string(100000, '\x1b'), Details(info));
  EXPECT_EQ(status.message().substr(0, 8), "no\\x0a\\x");
  EXPECT_LE(status.message().size(), kMaxErrorTextBytes);
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->want, "\\x1b[2J");
  EXPECT_LE(detail->got.size(), kMaxErrorTextBytes);
}

TEST(StatusDetailsTest, CodesThatAreNoneAreUnknown) {
  for (const int code : {-1, 17, 99, 1 << 30})
    EXPECT_EQ(StatusFromWire(code, "text", ""), absl::UnknownError("text")) << code;
}

TEST(StatusDetailsTest, LooksAtAFewDetailsOnly) {
  google::rpc::Status details;
  for (int i = 0; i < 100000; ++i) details.add_details();
  google::protobuf::Any& last = *details.add_details();
  last.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  last.set_value(Info("INVALID_PARAMETER").SerializeAsString());
  details.set_code(3);
  EXPECT_FALSE(GetErrorDetail(StatusFromWire(details)).has_value());
  details.mutable_details()->SwapElements(0, details.details_size() - 1);
  EXPECT_TRUE(GetErrorDetail(StatusFromWire(details)).has_value());
}

TEST(StatusDetailsTest, LeavesOutWhatItCannotRead) {
  google::rpc::ErrorInfo foreign = Info("INVALID_PARAMETER");
  foreign.set_domain("example.com");
  google::rpc::ErrorInfo codeless = Info("NEWER_REASON");
  codeless.mutable_metadata()->erase("code");
  for (const std::string& details :
       {std::string(), std::string("\xff\xff"), Details(codeless), Details(foreign),
        Details(Info("INVALID_PARAMETER"), "type.googleapis.com/google.rpc.RetryInfo")}) {
    const absl::Status status = StatusFromWire(3, "text", details);
    EXPECT_EQ(status, absl::InvalidArgumentError("text"));
  }
  EXPECT_THAT(StatusFromWire(0, "", Details(Info("INVALID_PARAMETER"))), testing::IsOk());
}

}  // namespace
}  // namespace opserve::client
