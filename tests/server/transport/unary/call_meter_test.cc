#include "server/transport/unary/call_meter.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/status_details.h"
#include "core/base/op_error.h"
#include "opserve/v1/operator_service.grpc.pb.h"

namespace opserve::server {
namespace {

// Ends every call with one status.
class Service final
    : public v1::OperatorService::WithCallbackMethod_GetServerInfo<v1::OperatorService::Service> {
 public:
  Service(ServerCounters& counters, absl::Status status)
      : counters_(counters), status_(std::move(status)) {}

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* /*request*/,
                                          v1::GetServerInfoResponse* /*response*/) override {
    CallMeter meter({counters_, observer_, load_reports_}, Method::kGetServerInfo, *context, 7);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(meter.End(status_, 5));
    return reactor;
  }

 private:
  ServerCounters& counters_;
  CallObserver observer_;
  LoadGauge load_{1};
  LoadReports load_reports_{LoadReportPolicy::kOff, load_};
  const absl::Status status_;
};

struct Ended {
  absl::Status status;
  std::string pushback = "none";
};

Ended Call(ServerCounters& counters, const absl::Status& status) {
  static std::atomic<int> number = 0;
  const std::string target =
      absl::StrCat("unix:/tmp/opserve-meter-", ::getpid(), "-", number.fetch_add(1));
  Service service(counters, status);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(target, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub =
      v1::OperatorService::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::GetServerInfoResponse response;
  const grpc::Status came = stub->GetServerInfo(&context, {}, &response);
  Ended ended;
  ended.status =
      client::StatusFromWire(came.error_code(), came.error_message(), came.error_details());
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find("grpc-retry-pushback-ms");
  if (found != metadata.end()) ended.pushback.assign(found->second.data(), found->second.size());
  server->Shutdown();
  return ended;
}

TEST(CallMeterTest, ARefusalThatPassesSaysWhenToTryAgain) {
  ServerCounters counters;
  const Ended ended = Call(counters, MakeError({.reason = ErrorReason::kResourceLimit,
                                                .op = "L1Loss",
                                                .parameter = "calls",
                                                .want = "at most 8",
                                                .got = "one more",
                                                .retry_after = absl::Milliseconds(250)}));
  EXPECT_EQ(ended.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ended.pushback, "250");
  ASSERT_TRUE(GetErrorDetail(ended.status).has_value());
  EXPECT_EQ(GetErrorDetail(ended.status)->retry_after, absl::Milliseconds(250));
  EXPECT_EQ(counters.Sum().errors[static_cast<size_t>(ErrorReason::kResourceLimit)], 1);
}

TEST(CallMeterTest, WhatLastsSaysNothing) {
  ServerCounters counters;
  for (const absl::Status& status :
       {MakeError({.reason = ErrorReason::kResourceLimit, .parameter = "memory limit"}),
        InvalidParameter("beta", ">= 0", "-1"), absl::OkStatus()}) {
    const Ended ended = Call(counters, status);
    EXPECT_EQ(ended.status.code(), status.code());
    EXPECT_EQ(ended.pushback, "none");
  }
}

TEST(CallMeterTest, CountsByStatusAndBytes) {
  ServerCounters counters;
  Call(counters, absl::OkStatus());
  Call(counters, InvalidParameter("beta", ">= 0", "-1"));
  const ServerCounts::OfMethod counts =
      counters.Sum().methods[static_cast<size_t>(Method::kGetServerInfo)];
  EXPECT_EQ(counts.begun, 2);
  EXPECT_EQ(counts.ended[0], 1);
  EXPECT_EQ(counts.ended[3], 1);
  EXPECT_EQ(counts.request_bytes, 14);
  EXPECT_EQ(counts.response_bytes, 10);
}

}  // namespace
}  // namespace opserve::server
