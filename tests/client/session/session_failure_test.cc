// How commands and sessions fail, against a fake server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <opserve/session.h>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/waiter.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(SessionFailureTest, ServersWithoutSessionsAreNamed) {
  const Client client = *Client::Connect("unix:/nonexistent/opserve.sock");
  const absl::Status status = client.OpenSession().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("unix:/nonexistent/opserve.sock: "));
}

TEST(SessionFailureTest, LimitsThatAreNoneEndTheSession) {
  const FakeSessionServer server(AnswerAll, v1::SessionInfo());
  const absl::Status status = Client::Connect(server.target())->OpenSession().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Message(status), HasSubstr("no valid SessionInfo"));
}

TEST(SessionFailureTest, WaitsReturnTheServersDetail) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.quiet()) send(BadBetaOf(command));
    return 0;
  });
  Session session = Open(server);
  Context context = session.CreateContext();
  const Executor executor = context.CreateExecutor(DeviceCall("Op"));
  for (const absl::Status& status :
       {executor.plan().status(), session.Execute(Call("Op")).status(),
        context.CreateStream().Query().status(), context.QueryMemory().status()}) {
    EXPECT_EQ(status.message(), "Op: beta: want >= 0, got -1");
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value());
    EXPECT_EQ(GetErrorReasonInfo(detail->reason).aclnn_code, 161002);
    EXPECT_EQ(detail->want, ">= 0");
  }
  EXPECT_THAT(session.status(), testing::IsOk());
}

// Fails every quiet command of one kind.
OnCommand Failing(v1::Command::CommandCase kind) {
  return [kind](const ReceivedCommand& command, const SendAnswer& send) {
    if (command.message.command_case() != kind) return AnswerAll(command, send);
    send(BadBetaOf(command));
    return 0;
  };
}

TEST(SessionFailureTest, QuietFailuresAreToldBySynchronizeOnce) {
  const FakeSessionServer server(Failing(v1::Command::kUpload));
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  Stream other = context.CreateStream();
  const std::vector<float> values = {1};
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {1});
  EXPECT_THAT(stream.Upload(x, TensorView::Of(values, {1})), testing::IsOk());
  EXPECT_THAT(stream.Upload(x, TensorView::Of(values, {1})), testing::IsOk());
  EXPECT_EQ(other.Synchronize(), absl::OkStatus()) << "not its failure";
  const absl::Status status = stream.Synchronize();
  EXPECT_EQ(Message(status), "Op: beta: want >= 0, got -1 (Upload, command 5 of the session)");
  EXPECT_EQ(GetErrorDetail(status)->parameter, "beta");
  EXPECT_EQ(stream.Synchronize(), absl::OkStatus());
}

TEST(SessionFailureTest, ObjectsThatCouldNotBeMadeAreToldToo) {
  const FakeSessionServer server(Failing(v1::Command::kAllocate));
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const DeviceBuffer first = context.Allocate(10);
  EXPECT_THAT(Message(stream.Synchronize()), HasSubstr("(Allocate, command 3 of the session)"));
  const DeviceBuffer second = context.Allocate(10);
  EXPECT_THAT(Message(context.Synchronize()), HasSubstr("(Allocate, command 5 of the session)"));
  EXPECT_EQ(context.Synchronize(), absl::OkStatus());
}

TEST(SessionFailureTest, SynchronizeNamesTheCommandThatTheServerTells) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.has_synchronize()) return 0;
    v1::Answer answer = BadBetaOf(command);
    answer.set_failed_command(3);
    send(answer);
    return 0;
  });
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const Executor executor = context.CreateExecutor(DeviceCall("Op"));
  EXPECT_THAT(Message(stream.Synchronize()),
              HasSubstr("got -1 (CreateExecutor of Op, command 3 of the session)"));
}

TEST(SessionFailureTest, FailuresOfStreamsThatAreGoneAreTheContexts) {
  const FakeSessionServer server(Failing(v1::Command::kFill));
  Session session = Open(server);
  Context context = session.CreateContext();
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {1});
  EXPECT_EQ(context.CreateStream().Fill(x, 1.0f), absl::OkStatus());
  EXPECT_THAT(Message(context.Synchronize()), HasSubstr("(Fill, command 4 of the session)"));
  EXPECT_EQ(context.Synchronize(), absl::OkStatus());
}

TEST(SessionFailureTest, FailuresToDestroyConcernNobody) {
  const FakeSessionServer server(Failing(v1::Command::kFree));
  Session session = Open(server);
  Context context = session.CreateContext();
  context.Allocate(1).Free();
  EXPECT_EQ(context.Synchronize(), absl::OkStatus());
}

// Answers nothing; ends the session with UNAVAILABLE at Fill.
int Silent(const ReceivedCommand& command, const SendAnswer& /*send*/) {
  return command.message.has_fill() ? 14 : 0;
}

TEST(SessionFailureTest, AllWaitsEndWithTheSession) {
  const FakeSessionServer server(Silent);
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {1});
  const Executor executor = context.CreateExecutor(DeviceCall("Op"));
  Waiter<absl::Status> called;
  Waiter<absl::Status> downloaded;
  session.ExecuteAsync(Call("Op"), [&](const absl::StatusOr<ExecuteResult>& result) {
    called.Set(result.status());
  });
  stream.DownloadAsync(
      x, [&](const absl::StatusOr<Tensor>& tensor) { downloaded.Set(tensor.status()); });
  EXPECT_EQ(stream.Fill(x, 1.0f), absl::OkStatus());
  const absl::Status end(absl::StatusCode::kUnavailable,
                         absl::StrCat(server.target(), ": as scripted"));
  EXPECT_EQ(stream.Synchronize(), end);
  EXPECT_EQ(executor.plan().status(), end);
  EXPECT_EQ(*called.Wait(absl::InfiniteFuture()), end);
  EXPECT_EQ(*downloaded.Wait(absl::InfiniteFuture()), end);
  EXPECT_EQ(session.Execute(Call("Op")).status(), end);
  EXPECT_EQ(session.Close(), end);
  EXPECT_EQ(session.status(), end);
}

TEST(SessionFailureTest, ServersThatGoAwayEndTheSession) {
  auto server = std::make_optional<FakeSessionServer>(Silent);
  Session session = Open(*server);
  Waiter<absl::Status> called;
  session.ExecuteAsync(Call("Op"), [&](const absl::StatusOr<ExecuteResult>& result) {
    called.Set(result.status());
  });
  server->WaitUntil([](const std::vector<ReceivedCommand>& received) { return !received.empty(); });
  server.reset();
  EXPECT_FALSE(called.Wait(absl::InfiniteFuture())->ok());
  EXPECT_FALSE(session.status().ok());
}

TEST(SessionFailureTest, CancelEndsWaits) {
  const FakeSessionServer server(Silent);
  Session session = Open(server);
  Waiter<absl::Status> called;
  session.ExecuteAsync(Call("Op"), [&](const absl::StatusOr<ExecuteResult>& result) {
    called.Set(result.status());
  });
  session.Cancel();
  EXPECT_EQ(called.Wait(absl::InfiniteFuture())->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kCancelled);
}

v1::SessionInfo LargeChunks() {
  v1::SessionInfo info = SmallLimits();
  info.set_recommended_chunk_bytes(1 << 18);
  return info;
}

TEST(SessionFailureTest, CancelReleasesBorrowedMemory) {
  Waiter<bool> stop;
  const FakeSessionServer server(
      [&stop](const ReceivedCommand& command, const SendAnswer& send) {
        if (!command.message.has_upload()) return AnswerAll(command, send);
        stop.Wait(absl::InfiniteFuture());  // reads no more
        return 0;
      },
      LargeChunks());
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  const std::vector<float> large(4 << 20);
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {4 << 20});
  Waiter<bool> released;
  EXPECT_THAT(stream.UploadAsync(x, TensorView::Of(large, {4 << 20}), [&] { released.Set(true); }),
              testing::IsOk());
  server.WaitUntil(
      [](const std::vector<ReceivedCommand>& received) { return received.size() >= 4; });
  EXPECT_FALSE(released.Wait(Clock::Real().Now() + absl::Milliseconds(50)).has_value());
  session.Cancel();
  EXPECT_TRUE(released.Wait(Clock::Real().Now() + absl::Seconds(30)).has_value());
  stop.Set(true);
}

TEST(SessionFailureTest, SessionsEndAtTheirDeadline) {
  const FakeSessionServer server(Silent);
  Session session = Open(server, {.timeout = absl::Seconds(2)});
  const absl::Status status = session.Execute(Call("Op")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(status), HasSubstr("the session did not end within 2s"));
}

TEST(SessionFailureTest, WaitsEndAtTheirOwnDeadlines) {
  const FakeSessionServer server(Silent);
  Session session = Open(server);
  Context context = session.CreateContext();
  const CallOptions soon = {.timeout = absl::Milliseconds(20)};
  EXPECT_EQ(session.Execute(Call("Op"), soon).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(context.CreateStream().Synchronize(soon).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(context.CreateExecutor(DeviceCall("Op")).plan(soon).status()),
              MatchesRegex("unix:.*: no end of CreateExecutor of Op in time"));
  EXPECT_THAT(session.status(), testing::IsOk());
}

TEST(SessionFailureTest, WhatASynchronizeIsToldTooLateTheNextOneTells) {
  Waiter<bool> go_on;
  int synchronized = 0;
  const FakeSessionServer server([&](const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.has_synchronize() || ++synchronized > 1) return AnswerAll(command, send);
    go_on.Wait(absl::InfiniteFuture());
    v1::Answer answer = BadBetaOf(command);
    answer.set_failed_command(1);
    send(answer);
    return 0;
  });
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  EXPECT_EQ(stream.Synchronize({.timeout = absl::Milliseconds(20)}).code(),
            absl::StatusCode::kDeadlineExceeded);
  go_on.Set(true);
  EXPECT_THAT(Message(stream.Synchronize()), HasSubstr("beta: want >= 0, got -1"));
  EXPECT_EQ(stream.Synchronize(), absl::OkStatus());
}

TEST(SessionFailureTest, CloseCancelsWhatIsNotOver) {
  Waiter<bool> stop;
  const FakeSessionServer server(
      [&stop](const ReceivedCommand& /*command*/, const SendAnswer& /*send*/) {
        stop.Wait(absl::InfiniteFuture());
        return 0;
      });
  Session session = Open(server);
  const Context context = session.CreateContext();
  EXPECT_EQ(session.Close({.timeout = absl::Milliseconds(20)}).code(),
            absl::StatusCode::kDeadlineExceeded);
  stop.Set(true);
}

TEST(SessionFailureTest, CloseFinishesWhatWasSent) {
  const FakeSessionServer server;
  Session session = Open(server);
  Context context = session.CreateContext();
  for (int i = 0; i < 100; ++i) context.CreateStream();
  EXPECT_EQ(session.Close(), absl::OkStatus());
  EXPECT_EQ(server.received(v1::Command::kDestroyStream).size(), 100u);
}

TEST(SessionFailureTest, DrainingIsTold) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    v1::Answer notice;
    notice.mutable_draining();
    send(notice);
    send(notice);
    return AnswerAll(command, send);
  });
  std::atomic<int> told = 0;
  SessionOptions options;
  options.on_draining = [&told] { ++told; };
  Session session = Open(server, std::move(options));
  EXPECT_EQ(session.CreateContext().Synchronize(), absl::OkStatus());
  EXPECT_TRUE(session.draining());
  EXPECT_EQ(told, 1);
}

TEST(SessionFailureTest, NonsenseEndsTheSession) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    v1::Answer answer = AnswerTo(command);
    answer.set_id(command.message.id() + 1000);
    send(answer);
    return 0;
  });
  Session session = Open(server);
  const absl::Status status = session.CreateContext().Synchronize();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Message(status), HasSubstr("was not sent"));
  EXPECT_EQ(session.status(), status);
}

TEST(SessionFailureTest, ErrorsWithoutACodeAreInternal) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    v1::Answer answer = AnswerTo(command);
    answer.mutable_error();
    if (!command.message.quiet()) send(answer);
    return 0;
  });
  Session session = Open(server);
  EXPECT_EQ(session.Execute(Call("Op")).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace opserve::client
