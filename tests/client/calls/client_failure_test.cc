// How calls fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <opserve/client.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "google/rpc/error_details.pb.h"
#include "tests/client/calls/fake_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<float>& Large() {
  static const auto& values = *new std::vector<float>(1 << 20, 1.0f);
  return values;
}

Call LargeCall() {
  Call call("Op");
  call.Input("x", TensorView::Of(Large(), {1 << 20}));
  return call;
}

Reply BadBeta(const v1::ExecuteRequest& /*request*/) {
  google::rpc::ErrorInfo info;
  info.set_reason("INVALID_PARAMETER");
  info.set_domain("opserve.dev");
  (*info.mutable_metadata())["operator"] = "Op";
  (*info.mutable_metadata())["parameter"] = "beta";
  (*info.mutable_metadata())["want"] = ">= 0";
  (*info.mutable_metadata())["got"] = "-1";
  google::rpc::Status details;
  details.set_code(3);
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  Reply reply;
  reply.code = 3;
  reply.message = "Op: beta: want >= 0, got -1";
  reply.details = details.SerializeAsString();
  return reply;
}

TEST(ClientFailureTest, CarriesTheServersDetail) {
  const FakeServer server(BadBeta);
  const absl::Status status = Client::Connect(server.target())->Execute(LargeCall()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "Op: beta: want >= 0, got -1");
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(GetErrorReasonInfo(detail->reason).aclnn_code, 161002);
  EXPECT_EQ(detail->parameter, "beta");
}

TEST(ClientFailureTest, BareErrorsNameTheTarget) {
  const FakeServer server([](const v1::ExecuteRequest&) {
    Reply reply;
    reply.code = 8;
    reply.message = "full";
    return reply;
  });
  const absl::Status status = Client::Connect(server.target())->Execute(LargeCall()).status();
  EXPECT_EQ(status, absl::ResourceExhaustedError(absl::StrCat(server.target(), ": full")));
}

Reply Hold(const v1::ExecuteRequest& /*request*/) {
  Reply reply;
  reply.hold = true;
  return reply;
}

TEST(ClientFailureTest, DeadlinePasses) {
  const FakeServer server(Hold);
  const Client client = *Client::Connect(server.target());
  const absl::Time start = absl::Now();
  const absl::Status status =
      client.Execute(LargeCall(), {.timeout = absl::Milliseconds(50)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Message(status), absl::StrCat(server.target(), ": no answer within 50ms"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_EQ(client.Execute(LargeCall(), {.timeout = -absl::Seconds(1)}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(client.GetServerInfo(), testing::IsOk()) << "the connection is still good";
}

// While the connection is made, while the request leaves, and later.
TEST(ClientFailureTest, DeadlinesPassAtAnyMoment) {
  const FakeServer server(Hold);
  for (int i = 0; i < 100; ++i) {
    const absl::Duration timeout = i * absl::Microseconds(100);
    const absl::Status status =
        Client::Connect(server.target())->Execute(LargeCall(), {.timeout = timeout}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  }
}

TEST(ClientFailureTest, CancelEndsTheCall) {
  std::atomic<bool> entered = false;
  const FakeServer server([&entered](const v1::ExecuteRequest& request) {
    entered = true;
    return Hold(request);
  });
  Mutex mutex;
  CondVar ended;
  std::optional<absl::Status> status;
  CallHandle handle =
      Client::Connect(server.target())
          ->ExecuteAsync(LargeCall(), {}, [&](const absl::StatusOr<ExecuteResult>& result) {
            const MutexLock lock(mutex);
            status = result.status();
            ended.NotifyAll();
          });
  while (!entered) absl::SleepFor(absl::Milliseconds(1));
  handle.Cancel();
  const MutexLock lock(mutex);
  while (!status.has_value()) ended.Wait(mutex);
  EXPECT_EQ(status->code(), absl::StatusCode::kCancelled);
}

TEST(ClientFailureTest, UnreachableServersAreNamedAtOnce) {
  for (const char* target : {"unix:/nonexistent/opserve.sock", "127.0.0.1:1"}) {
    const Client client = *Client::Connect(target);
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = client.Execute(LargeCall()).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(Message(status), HasSubstr(absl::StrCat(target, ": ")));
    }
  }
  EXPECT_FALSE(Client::Connect("").ok());
}

TEST(ClientFailureTest, ServersThatNeverAnswerAreTimedOut) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string target = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  const absl::Status status =
      Client::Connect(target)->Execute(LargeCall(), {.timeout = absl::Milliseconds(100)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(status), HasSubstr(target));
  close(listener);
}

TEST(ClientFailureTest, TooLargeRequestsNameTheServersLimit) {
  const FakeServer server(Echo, 1 << 20);
  const Client client = *Client::Connect(server.target());
  const absl::Status status = client.Execute(LargeCall()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("at most 1048576 bytes"), HasSubstr(server.target()),
                                     HasSubstr("got 41943")));
  EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kResourceLimit);
  const std::vector<float> small = {1};
  EXPECT_THAT(client.Execute(Call("Op").Input("x", TensorView::Of(small, {1}))), testing::IsOk());
}

TEST(ClientFailureTest, RequestsThatGrpcCannotCarryAreRefusedHere) {
  const FakeServer server(Echo);
  // Bytes that are never read.
  const std::span<const std::byte> huge(reinterpret_cast<const std::byte*>(Large().data()),
                                        size_t{1} << 32);
  const std::vector<int64_t> shape = {int64_t{1} << 32};
  const absl::Status status =
      Client::Connect(server.target())
          ->Execute(Call("Op").Input("x", TensorView::OfBytes(DType::kInt8, shape, huge)))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("the limit of gRPC"));
}

TEST(ClientFailureTest, BadAnswersAreNamed) {
  const FakeServer server([](const v1::ExecuteRequest& request) {
    Reply reply = Echo(request);
    reply.response.mutable_raw(0)->push_back('x');
    return reply;
  });
  const absl::Status status = Client::Connect(server.target())->Execute(LargeCall()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Message(status),
              HasSubstr("out: want 4194304 bytes for float32[1048576], got 4194305"));
}

TEST(ClientFailureTest, CallsEndWhenTheServerGoes) {
  std::atomic<bool> entered = false;
  auto server = std::make_optional<FakeServer>([&entered](const v1::ExecuteRequest& request) {
    entered = true;
    return Hold(request);
  });
  Mutex mutex;
  CondVar ended;
  std::optional<absl::Status> status;
  const Client client = *Client::Connect(server->target());
  client.ExecuteAsync(LargeCall(), {}, [&](const absl::StatusOr<ExecuteResult>& result) {
    const MutexLock lock(mutex);
    status = result.status();
    ended.NotifyAll();
  });
  while (!entered) absl::SleepFor(absl::Milliseconds(1));
  server.reset();
  const MutexLock lock(mutex);
  while (!status.has_value()) ended.Wait(mutex);
  EXPECT_FALSE(status->ok());
}

TEST(ClientFailureTest, ATraceParentThatIsNoneIsNotSent) {
  FakeServer server(Echo);
  const Client client = Connect(server);
  for (const std::string text : {"00-12-34-01", "x\r\ny: z", " "}) {
    const auto info = client.GetServerInfo({.traceparent = text});
    ASSERT_FALSE(info.ok()) << text;
    ASSERT_TRUE(GetErrorDetail(info.status()).has_value());
    EXPECT_EQ(GetErrorDetail(info.status())->parameter, "traceparent");
    const auto result = client.Execute(LargeCall(), {.traceparent = text});
    EXPECT_EQ(result.status(), info.status());
  }
}

}  // namespace
}  // namespace opserve::client
