// What is tried again, how often and when; and calls that go to several servers in turn.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <opserve/client.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/client/calls/fake_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using testing::IsOk;

constexpr int kUnavailable = 14;
constexpr int kResourceExhausted = 8;

const std::vector<float>& Values() {
  static const auto& values = *new std::vector<float>(1 << 16, 1.5f);
  return values;
}

Call SomeCall() {
  Call call("Op");
  call.Input("x", TensorView::Of(Values(), {1 << 16}));
  return call;
}

Reply Failure(int code) {
  Reply reply;
  reply.code = code;
  reply.message = "not now";
  return reply;
}

// As servers refuse for want of room.
Reply FullFor(absl::Duration wait) {
  google::rpc::ErrorInfo info;
  info.set_reason("RESOURCE_LIMIT");
  info.set_domain("opserve.dev");
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(absl::ToInt64Seconds(wait));
  retry.mutable_retry_delay()->set_nanos(
      static_cast<int>(absl::ToInt64Nanoseconds(wait % absl::Seconds(1))));
  google::rpc::Status details;
  details.set_code(kResourceExhausted);
  details.add_details()->PackFrom(info);
  details.add_details()->PackFrom(retry);
  Reply reply = Failure(kResourceExhausted);
  reply.details = details.SerializeAsString();
  return reply;
}

// Answers as `first` says so many times, then well.
class FlakyServer {
 public:
  FlakyServer(Reply first, int times)
      : server_([this, first = std::move(first), times](const v1::ExecuteRequest& request) {
          return ++calls_ <= times ? first : Echo(request);
        }) {}

  absl::StatusOr<ExecuteResult> Execute(int tries,
                                        absl::Duration timeout = absl::InfiniteDuration()) {
    return Dial(tries).Execute(SomeCall(), {.timeout = timeout});
  }
  Client Dial(int tries, int connections = 1) {
    return *Client::Connect(server_.target(), {.tries = tries, .connections = connections});
  }
  int calls() const { return calls_; }

 private:
  std::atomic<int> calls_ = 0;
  const FakeServer server_;
};

TEST(RetriesTest, TriesAgainWhereNoServerAnswers) {
  FlakyServer server(Failure(kUnavailable), 2);
  const absl::StatusOr<ExecuteResult> result = server.Execute(3);
  ASSERT_THAT(result, IsOk());
  const auto elements = result->Elements<float>("out");
  ASSERT_THAT(elements, IsOk());
  EXPECT_EQ(std::vector<float>(elements->begin(), elements->end()), Values());
  EXPECT_EQ(server.calls(), 3);
}

TEST(RetriesTest, TriesNoMoreThanItIsTold) {
  for (const int tries : {1, 2}) {
    FlakyServer server(Failure(kUnavailable), 100);
    EXPECT_EQ(server.Execute(tries).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(server.calls(), tries);
  }
}

// More connections are more tries only for what one of the others loses.
TEST(RetriesTest, TriesOnceOnTheFirstOfSeveralConnections) {
  FlakyServer server(Failure(kUnavailable), 100);
  const Client client = server.Dial(1, 4);
  EXPECT_EQ(client.Execute(SomeCall()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(server.calls(), 1);
  absl::Notification ended;
  client.ExecuteAsync(SomeCall(), {}, [&](const absl::StatusOr<ExecuteResult>& result) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
    ended.Notify();
  });
  ended.WaitForNotification();
  EXPECT_EQ(server.calls(), 2);
}

TEST(RetriesTest, WaitsAsLongAsTheServerSays) {
  constexpr absl::Duration kWait = absl::Milliseconds(700);
  FlakyServer server(FullFor(kWait), 1);
  const absl::Time begin = absl::Now();
  EXPECT_THAT(server.Execute(2), IsOk());
  EXPECT_GE(absl::Now() - begin, kWait);
  EXPECT_EQ(server.calls(), 2);
}

TEST(RetriesTest, LeavesWhatWouldFailAgain) {
  for (const int code : {3, kResourceExhausted, 13}) {
    FlakyServer server(Failure(code), 1);
    EXPECT_EQ(server.Execute(5).status().code(), static_cast<absl::StatusCode>(code));
    EXPECT_EQ(server.calls(), 1);
  }
}

TEST(RetriesTest, BeginsNoWaitThatIsTooLong) {
  FlakyServer server(FullFor(absl::Hours(1)), 1);
  EXPECT_EQ(server.Execute(5, absl::Minutes(1)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(server.calls(), 1);
}

TEST(RetriesTest, AWaitCanBeCancelled) {
  FlakyServer server(FullFor(absl::Hours(1)), 1);
  const Client client = server.Dial(5);
  absl::Notification ended;
  absl::Status status;
  CallHandle handle =
      client.ExecuteAsync(SomeCall(), {}, [&](absl::StatusOr<ExecuteResult> result) {
        status = result.status();
        ended.Notify();
      });
  while (server.calls() == 0) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(20));
  handle.Cancel();
  handle.Cancel();
  ended.WaitForNotification();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(server.calls(), 1);
}

TEST(RetriesTest, ATryCanBeCancelled) {
  Reply hold;
  hold.hold = true;
  FlakyServer server(hold, 1);
  const Client client = server.Dial(5);
  absl::Notification ended;
  absl::Status status;
  CallHandle handle =
      client.ExecuteAsync(SomeCall(), {}, [&](absl::StatusOr<ExecuteResult> result) {
        status = result.status();
        ended.Notify();
      });
  while (server.calls() == 0) absl::SleepFor(absl::Milliseconds(1));
  handle.Cancel();
  ended.WaitForNotification();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

TEST(RetriesTest, OutlivesTheClient) {
  FlakyServer server(Failure(kUnavailable), 2);
  absl::Notification ended;
  absl::Status status = absl::UnknownError("");
  server.Dial(3).ExecuteAsync(SomeCall(), {}, [&](absl::StatusOr<ExecuteResult> result) {
    status = result.status();
    ended.Notify();
  });
  ended.WaitForNotification();
  EXPECT_THAT(status, IsOk());
}

TEST(RetriesTest, WaitsForAServerThatStarts) {
  const std::string target = absl::StrCat("unix:/tmp/opserve-late-", getpid());
  std::thread late([&] {
    absl::SleepFor(absl::Milliseconds(300));
    const FakeServer server(&Echo, 64 << 20, target);
    EXPECT_THAT(Client::Connect(target, {.tries = 100})->Execute(SomeCall()), IsOk());
    absl::SleepFor(absl::Seconds(3));  // longer than the other client takes to dial again
  });
  EXPECT_THAT(Client::Connect(target, {.tries = 100})->Execute(SomeCall()), IsOk());
  late.join();
}

TEST(RetriesTest, TheNumberOfTriesIsChecked) {
  EXPECT_EQ(Client::Connect("localhost:1", {.tries = 0}).status().message(),
            "tries: want 1 to 100, got 0");
  EXPECT_FALSE(Client::Connect("localhost:1", {.tries = 101}).ok());
}

TEST(RoundRobinTest, ServersTakeTurnsAndTheDeadAreLeftOut) {
  std::atomic<int> of_first = 0;
  std::atomic<int> of_second = 0;
  const FakeServer first([&](const v1::ExecuteRequest& request) {
    ++of_first;
    return Echo(request);
  });
  const FakeServer second([&](const v1::ExecuteRequest& request) {
    ++of_second;
    return Echo(request);
  });
  const std::string target =
      absl::StrCat("ipv4:", first.address(), ",127.0.0.1:1,", second.address());
  const Client client = *Client::Connect(target, {.tries = 4, .round_robin = true});
  // Until both connections are there calls go to one alone.
  for (int i = 0; i < 1000 && (of_first == 0 || of_second == 0); ++i)
    EXPECT_THAT(client.Execute(SomeCall()), IsOk());
  of_first = of_second = 0;
  // gRPC begins with any of them again whenever it has tried the dead one: not quite half each.
  for (int i = 0; i < 100; ++i) EXPECT_THAT(client.Execute(SomeCall()), IsOk());
  EXPECT_GE(of_first, 30);
  EXPECT_GE(of_second, 30);
}

}  // namespace
}  // namespace opserve::client
