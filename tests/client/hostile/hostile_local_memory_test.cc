// Large tensors of a client whose server means harm with its shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <opserve/client.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/cpp/memory/local_memory.h"
#include "client/cpp/memory/region_pool.h"
#include "core/base/unique_fd.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/client/calls/fake_server.h"
#include "tests/client/hostile/hostile_socket.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

const std::vector<float>& LargeValues() {
  static const auto& values = *new std::vector<float>(kLeastSharedBytes / 4, 1.5f);
  return values;
}

Call LargeCall() {
  const auto count = static_cast<int64_t>(LargeValues().size());
  return Call("Any").Input("x", TensorView::Of(LargeValues(), {count}));
}

// As often as programs call it.
void ExpectEchoes(const FakeServer& server) {
  const Client client = Connect(server);
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<ExecuteResult> result = client.Execute(LargeCall());
    ASSERT_THAT(result, opserve::testing::IsOk());
    EXPECT_THAT(result->outputs[0].tensor.As<float>(), ::testing::ElementsAreArray(LargeValues()));
  }
}

Reply EchoBytes(const v1::ExecuteRequest& request) {
  EXPECT_TRUE(request.call().inputs(0).has_raw_index());
  return Echo(request);
}

Reply RefuseMemory() {
  google::rpc::ErrorInfo info;
  info.set_reason("OBJECT_NOT_FOUND");
  info.set_domain("opserve.dev");
  google::rpc::Status details;
  details.set_code(5);
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  return {.code = 5, .message = "gone", .details = details.SerializeAsString(), .response = {}};
}

TEST(HostileLocalMemoryTest, PathsThatLeadNowhereAreLeft) {
  for (const std::string& path : {std::string("relative"), std::string("/nowhere/at/all"),
                                  std::string("/dev/null"), "/" + std::string(5000, 'x')})
    ExpectEchoes(FakeServer(&EchoBytes, 64 << 20, "", path));
}

TEST(HostileLocalMemoryTest, SilentSocketsAreGivenUp) {
  const HostileSocket socket([](int) {});
  const absl::Time start = absl::Now();
  ExpectEchoes(FakeServer(&EchoBytes, 64 << 20, "", socket.path()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

// The call's own time is over first: it goes on without, and the memory that comes late goes back.
TEST(HostileLocalMemoryTest, LateMemoryGoesBack) {
  const UniqueFd file = Memory(kLeastSharedBytes, kSeals);
  absl::Notification is_late, is_released;
  const HostileSocket socket([&](int client) {
    is_late.WaitForNotification();
    Send(client, Region(16, kLeastSharedBytes), {file.get()});
    v1::SharedMemoryRequest request;
    std::string bytes(100, '\0');
    for (ssize_t size; (size = recv(client, bytes.data(), bytes.size(), 0)) > 0;) {
      if (!request.ParseFromArray(bytes.data(), static_cast<int>(size))) return;
      const bool releases = request.has_release();
      if (releases && !is_released.HasBeenNotified()) is_released.Notify();
      v1::SharedMemoryResponse released;
      released.mutable_released();
      if (releases) Send(client, released.SerializeAsString(), {});
      if (!releases) Send(client, Region(16, kLeastSharedBytes), {file.get()});
    }
  });
  const auto pool =
      std::make_shared<RegionPool>(socket.path(), std::make_shared<RegionBudget>(1 << 20),
                                   absl::Minutes(1), absl::InfiniteDuration());
  ASSERT_THAT(pool->Connect(absl::InfiniteFuture()), opserve::testing::IsOk());
  const auto take = [&](absl::Time deadline) {
    return pool->Take(kLeastSharedBytes, deadline).status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(take(absl::Now() + absl::Milliseconds(200))));
  is_late.Notify();
  EXPECT_THAT(take(absl::InfiniteFuture()), opserve::testing::IsOk());
  EXPECT_TRUE(is_released.HasBeenNotified());
}

// However little time each of the calls has.
TEST(HostileLocalMemoryTest, SilenceIsCountedTogether) {
  const HostileSocket socket([](int) {});
  const auto pool =
      std::make_shared<RegionPool>(socket.path(), std::make_shared<RegionBudget>(1 << 20),
                                   absl::Milliseconds(50), absl::InfiniteDuration());
  ASSERT_THAT(pool->Connect(absl::InfiniteFuture()), opserve::testing::IsOk());
  absl::Status status;
  do {
    status = pool->Take(1000, absl::Now() + absl::Milliseconds(20)).status();
  } while (absl::IsResourceExhausted(status));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

// Nothing is left for the call itself, which would be answered at once.
TEST(HostileLocalMemoryTest, WhatWasWaitedForMemoryCounts) {
  FakeServer server(&Echo);
  const Client client = Connect(server);
  server.HoldInfo();
  const absl::Status status =
      client.Execute(LargeCall(), {.timeout = absl::Milliseconds(50)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST(HostileLocalMemoryTest, UnsoundMemoryIsNotUsed) {
  const UniqueFd file = Memory(kLeastSharedBytes, 0);  // it could shrink
  const HostileSocket socket(
      [&](int client) { Send(client, Region(16, kLeastSharedBytes), {file.get()}); });
  ExpectEchoes(FakeServer(&EchoBytes, 64 << 20, "", socket.path()));
}

// A server that gives memory, and then says that it has none of it.
TEST(HostileLocalMemoryTest, CallsThatAreRefusedGoByBytes) {
  const UniqueFd file = Memory(kLeastSharedBytes, kSeals);
  const HostileSocket socket(
      [&](int client) { Send(client, Region(16, kLeastSharedBytes), {file.get()}); });
  std::atomic<int> refused = 0;
  ExpectEchoes(FakeServer(
      [&](const v1::ExecuteRequest& request) {
        if (!request.call().inputs(0).has_shared()) return Echo(request);
        ++refused;
        return RefuseMemory();
      },
      64 << 20, "", socket.path()));
  EXPECT_EQ(refused, 1);
}

// An answer in memory that was not asked for is none.
TEST(HostileLocalMemoryTest, OutputsElsewhereAreErrors) {
  const UniqueFd file = Memory(kLeastSharedBytes, kSeals);
  const HostileSocket socket(
      [&](int client) { Send(client, Region(16, kLeastSharedBytes), {file.get()}); });
  const FakeServer server(
      [&](const v1::ExecuteRequest& request) {
        Reply reply;
        *reply.response.add_outputs() = request.call().inputs(0);
        return reply;
      },
      64 << 20, "", socket.path());
  const absl::Status status = Connect(server).Execute(LargeCall()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("others in shared memory"));
}

}  // namespace
}  // namespace opserve::client
