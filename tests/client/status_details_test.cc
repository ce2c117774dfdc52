#include "client/cpp/status_details.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/base/op_error.h"
#include "opserve/v1/errors.pb.h"

namespace opserve::client {
namespace {

v1::ErrorInfo Info(std::string_view reason) {
  v1::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain("opserve");
  (*info.mutable_metadata())["code"] = "161002";
  (*info.mutable_metadata())["operator"] = "Op";
  (*info.mutable_metadata())["parameter"] = "beta";
  (*info.mutable_metadata())["want"] = ">= 0";
  (*info.mutable_metadata())["got"] = "-1";
  return info;
}

std::string Details(const v1::ErrorInfo& info,
                    const std::string& type_url = "type.googleapis.com/google.rpc.ErrorInfo") {
  v1::StatusDetails details;
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

TEST(StatusDetailsTest, TheWiresCodeWins) {
  const absl::Status status =
      StatusFromWire(14, "device gone", Details(Info("ACLNN_ERR_RUNTIME_ERROR")));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kRuntimeError);
}

TEST(StatusDetailsTest, ReadsWhenToTryAgain) {
  v1::ErrorInfo info = Info("RESOURCE_LIMIT");
  const auto wait = [&info](const std::string& text) {
    (*info.mutable_metadata())["retry_after_ms"] = text;
    return GetErrorDetail(StatusFromWire(8, "text", Details(info)))->retry_after;
  };
  EXPECT_EQ(wait("250"), absl::Milliseconds(250));
  EXPECT_EQ(wait("0"), absl::ZeroDuration());
  for (const char* text : {"-1", "soon", "", "99999999999999999999"})
    EXPECT_EQ(wait(text), std::nullopt) << text;
  EXPECT_EQ(wait("1000000000000000000"), kMaxRetryAfter);
}

TEST(StatusDetailsTest, TextsMayBePrinted) {
  v1::ErrorInfo info = Info("ACLNN_ERR_PARAM_INVALID");
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
  v1::StatusDetails details;
  for (int i = 0; i < 100000; ++i) details.add_details();
  google::protobuf::Any& last = *details.add_details();
  last.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  last.set_value(Info("ACLNN_ERR_PARAM_INVALID").SerializeAsString());
  details.set_code(3);
  EXPECT_FALSE(GetErrorDetail(StatusFromWire(details)).has_value());
  details.mutable_details()->SwapElements(0, details.details_size() - 1);
  EXPECT_TRUE(GetErrorDetail(StatusFromWire(details)).has_value());
}

TEST(StatusDetailsTest, LeavesOutWhatItCannotRead) {
  v1::ErrorInfo foreign = Info("ACLNN_ERR_PARAM_INVALID");
  foreign.set_domain("example.com");
  for (const std::string& details :
       {std::string(), std::string("\xff\xff"), Details(Info("NEWER_REASON")), Details(foreign),
        Details(Info("ACLNN_ERR_PARAM_INVALID"), "type.googleapis.com/google.rpc.RetryInfo")}) {
    const absl::Status status = StatusFromWire(3, "text", details);
    EXPECT_EQ(status, absl::InvalidArgumentError("text"));
  }
  EXPECT_TRUE(StatusFromWire(0, "", Details(Info("ACLNN_ERR_PARAM_INVALID"))).ok());
}

}  // namespace
}  // namespace opserve::client
