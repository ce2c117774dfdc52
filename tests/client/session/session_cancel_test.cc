// Commands with time-outs, and commands that are cancelled, against a fake server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <opserve/session.h>

#include "core/base/waiter.h"
#include "tests/client/session/fake_session_server.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;

TEST(SessionCancelTest, TimeoutsGoAlongWithCommands) {
  const FakeSessionServer server;
  Session session = Open(server);
  Context context = session.CreateContext();
  Stream plain = context.CreateStream();
  Stream timed = plain.WithTimeout(absl::Milliseconds(5));
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {2});
  const std::vector<float> values = {1, 2};
  const Executor executor = context.CreateExecutor(DeviceCall("Op"));
  EXPECT_EQ(plain.Fill(x, 1.0f), absl::OkStatus());
  EXPECT_EQ(timed.Fill(x, 1.0f), absl::OkStatus());
  EXPECT_EQ(timed.Upload(x, TensorView::Of(values, {2})), absl::OkStatus());
  timed.Execute(executor);
  plain.WithTimeout(-absl::Seconds(1)).Execute(executor);
  plain.WithTimeout(absl::Hours(24 * 365 * 1000)).Execute(executor);
  timed.ExecuteAsync(Call("Op"), [](const absl::StatusOr<ExecuteResult>&) {});
  session.ExecuteAsync(Call("Op"), {.timeout = absl::Milliseconds(7)},
                       [](const absl::StatusOr<ExecuteResult>&) {});
  session.Execute(Call("Op"), {.timeout = absl::Hours(1)}).IgnoreError();
  EXPECT_EQ(timed.Synchronize(), absl::OkStatus());
  EXPECT_EQ(session.Close(), absl::OkStatus());
  const auto timeouts = [&server](v1::Command::CommandCase kind) {
    std::vector<int64_t> sent;
    for (const ReceivedCommand& command : server.received(kind))
      sent.push_back(command.message.timeout_ns());
    return sent;
  };
  EXPECT_THAT(timeouts(v1::Command::kFill), ElementsAre(0, 5'000'000));
  EXPECT_THAT(timeouts(v1::Command::kUpload), ElementsAre(5'000'000));
  EXPECT_THAT(timeouts(v1::Command::kRunExecutor),
              ElementsAre(5'000'000, 1, std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(timeouts(v1::Command::kExecute),
              ElementsAre(5'000'000, 7'000'000, 3'600'000'000'000));
  EXPECT_THAT(timeouts(v1::Command::kSynchronize), ElementsAre(0));
}

// Answers an Execute with CANCELLED when it is cancelled.
class CancellingServer {
 public:
  int operator()(const ReceivedCommand& command, const SendAnswer& send) {
    if (command.message.has_execute()) return 0;
    if (!command.message.has_cancel()) return AnswerAll(command, send);
    v1::Answer answer;
    answer.set_id(command.message.cancel().command());
    answer.mutable_error()->set_code(1);
    send(answer);
    return 0;
  }
};

TEST(SessionCancelTest, HandlesCancelTheirCommand) {
  const FakeSessionServer server{CancellingServer()};
  Session session = Open(server);
  CommandHandle().Cancel();
  Waiter<absl::Status> first;
  Waiter<absl::Status> second;
  const CommandHandle one = session.ExecuteAsync(
      Call("Op"),
      [first](const absl::StatusOr<ExecuteResult>& result) { first.Set(result.status()); });
  const CommandHandle two = session.ExecuteAsync(
      Call("Op"),
      [second](const absl::StatusOr<ExecuteResult>& result) { second.Set(result.status()); });
  two.Cancel();
  EXPECT_EQ(second.Wait(absl::InfiniteFuture())->code(), absl::StatusCode::kCancelled);
  one.Cancel();
  EXPECT_EQ(first.Wait(absl::InfiniteFuture())->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(session.Close(), absl::OkStatus());
  one.Cancel();
  const std::vector<ReceivedCommand> cancels = server.received(v1::Command::kCancel);
  ASSERT_EQ(cancels.size(), 2u);
  EXPECT_TRUE(cancels[0].message.quiet());
  EXPECT_EQ(cancels[0].message.cancel().command(), 2u);
  EXPECT_EQ(cancels[1].message.cancel().command(), 1u);
}

TEST(SessionCancelTest, CallsThatAreGivenUpAreCancelled) {
  const FakeSessionServer server{CancellingServer()};
  Session session = Open(server);
  const absl::Status status =
      session.Execute(Call("Op"), {.timeout = absl::Milliseconds(10)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(session.Close(), absl::OkStatus());
  const std::vector<ReceivedCommand> received = server.received();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].message.timeout_ns(), 10'000'000);
  EXPECT_EQ(received[1].message.cancel().command(), received[0].message.id());
}

}  // namespace
}  // namespace opserve::client
