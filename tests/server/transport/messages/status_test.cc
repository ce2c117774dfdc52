#include "server/transport/messages/status.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/op_error.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/codec/status_details.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

google::rpc::ErrorInfo InfoOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), static_cast<int>(status.error_code()));
  EXPECT_EQ(details.message(), status.error_message());
  EXPECT_GE(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
  google::rpc::ErrorInfo info;
  EXPECT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_EQ(info.domain(), "opserve.dev");
  return info;
}

TEST(StatusTest, OkIsOk) {
  const grpc::Status status = ToGrpcStatus(absl::OkStatus());
  EXPECT_THAT(status, testing::IsOk());
  EXPECT_TRUE(status.error_details().empty());
}

TEST(StatusTest, EveryReasonTravels) {
  for (const ErrorReasonInfo& reason : ErrorReasons()) {
    const grpc::Status status = ToGrpcStatus(MakeError(
        {.reason = reason.reason, .op = "Op", .parameter = "beta", .want = ">= 0", .got = "-1"}));
    EXPECT_EQ(static_cast<int>(status.error_code()), static_cast<int>(reason.status_code));
    EXPECT_EQ(status.error_message(), "Op: beta: want >= 0, got -1");
    const google::rpc::ErrorInfo info = InfoOf(status);
    EXPECT_EQ(info.reason(), std::string(reason.name));
    EXPECT_EQ(info.metadata().count("code"), reason.aclnn_code == 0 ? 0u : 1u);
    if (reason.aclnn_code != 0) {
      EXPECT_EQ(info.metadata().at("code"), std::to_string(reason.aclnn_code));
    }
    EXPECT_EQ(info.metadata().at("operator"), "Op");
    EXPECT_EQ(info.metadata().at("parameter"), "beta");
    EXPECT_EQ(info.metadata().at("want"), ">= 0");
    EXPECT_EQ(info.metadata().at("got"), "-1");
  }
}

TEST(StatusTest, SaysWhenToTryAgain) {
  google::rpc::Status details;
  ASSERT_TRUE(
      details.ParseFromString(ToGrpcStatus(MakeError({.reason = ErrorReason::kResourceLimit,
                                                      .retry_after = absl::Milliseconds(1500)}))
                                  .error_details()));
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500000000);
}

TEST(StatusTest, UnknownPartsAreLeftOut) {
  const google::rpc::ErrorInfo info =
      InfoOf(ToGrpcStatus(MakeError({.reason = ErrorReason::kCancelled})));
  EXPECT_TRUE(info.metadata().empty());
}

TEST(StatusTest, ForeignStatusesKeepTheirCode) {
  EXPECT_EQ(InfoOf(ToGrpcStatus(absl::UnknownError("odd"))).reason(), "INTERNAL");
  EXPECT_EQ(InfoOf(ToGrpcStatus(absl::InvalidArgumentError("odd"))).reason(), "INVALID_PARAMETER");
  EXPECT_EQ(InfoOf(ToGrpcStatus(absl::ResourceExhaustedError("odd"))).reason(), "RESOURCE_LIMIT");
  EXPECT_EQ(ToGrpcStatus(absl::UnknownError("odd")).error_code(), grpc::StatusCode::UNKNOWN);
}

TEST(StatusTest, FitsTheMetadataThatClientsAccept) {
  std::string chinese;
  for (int i = 0; i < 5000; ++i) chinese += "梯";
  const grpc::Status status = ToGrpcStatus(MakeError({.reason = ErrorReason::kInvalidParameter,
                                                      .op = chinese,
                                                      .parameter = chinese,
                                                      .want = chinese,
                                                      .got = chinese,
                                                      .retry_after = absl::Hours(1)}));
  // The message percent-encoded, the details in base64.
  EXPECT_LE(status.error_details().size(), kMaxStatusDetailsBytes);
  EXPECT_LT(status.error_message().size() * 3 + status.error_details().size() * 4 / 3, 8000u);
  const google::rpc::ErrorInfo info = InfoOf(status);  // parses: cut between characters
  EXPECT_EQ(info.metadata().at("got").substr(info.metadata().at("got").size() - 3), "…");
}

}  // namespace
}  // namespace opserve::server
