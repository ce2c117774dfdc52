// What the transport holds of answers that are still coming.
#include "client/cpp/transport/answer_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <opserve/client.h>

#include "tests/client/calls/fake_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

TEST(AnswerMemoryTest, RoomIsGivenBackByWhoeverIsLast) {
  const auto memory = std::make_shared<AnswerMemory>(1 << 20);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&memory] {
      for (int j = 0; j < 1000; ++j) {
        const AnswerRoom room = memory->Reserve();
        const AnswerRoom copy = room;
        EXPECT_EQ(copy.bytes, 1 << 20);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(memory->rooms(), 0);
}

// One output of so many bytes.
Reply Large(size_t bytes) {
  Reply reply;
  v1::Tensor& output = *reply.response.add_outputs();
  output.set_name("out");
  output.set_dtype(v1::DATA_TYPE_UINT8);
  output.add_shape(static_cast<int64_t>(bytes));
  output.set_raw_index(0);
  reply.response.add_raw(std::string(bytes, 'x'));
  return reply;
}

absl::Status AnswerOf(size_t bytes, int64_t max_answer_bytes) {
  const FakeServer server([bytes](const v1::ExecuteRequest&) { return Large(bytes); });
  const absl::StatusOr<Client> client =
      Client::Connect(server.target(), {.max_answer_bytes = max_answer_bytes});
  return client.ok() ? client->Execute(Call("Op")).status() : client.status();
}

TEST(AnswerMemoryTest, AnswersUpToTheBoundAreTaken) {
  constexpr int64_t kBound = int64_t{64} << 20;
  EXPECT_EQ(AnswerOf(kBound - 100, kBound), absl::OkStatus());
  const absl::Status status = AnswerOf(kBound + 1, kBound);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("want at most 67108864 bytes (max_answer_bytes), got more"),
            absl::string_view::npos)
      << status;
}

TEST(AnswerMemoryTest, BoundsAreChecked) {
  for (const int64_t bound : {int64_t{0}, int64_t{-1}, int64_t{4095}, int64_t{1} << 31})
    EXPECT_EQ(AnswerOf(1, bound).code(), absl::StatusCode::kInvalidArgument) << bound;
}

// Each has the room that it may need, and none of them more.
TEST(AnswerMemoryTest, ManyLargeAnswersMayComeAtOnce) {
  constexpr size_t kBytes = size_t{24} << 20;
  const FakeServer server([](const v1::ExecuteRequest&) { return Large(kBytes); });
  const Client client = *Client::Connect(server.target(), {.max_answer_bytes = kBytes + 1000});
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&client] {
      for (int j = 0; j < 3; ++j) {
        const absl::StatusOr<ExecuteResult> result = client.Execute(Call("Op"));
        EXPECT_THAT(result, testing::IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace opserve::client
