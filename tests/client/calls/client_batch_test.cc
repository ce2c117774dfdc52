// ExecuteBatch and GetStatistics of the client, against a scripted server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <opserve/client.h>

#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "tests/client/calls/fake_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;

// Of every call whose input is larger than all others, an error.
Reply EchoSmall(const v1::ExecuteRequest& request) {
  Reply echo = Echo(request);
  if (echo.response.outputs(0).shape(0) < 3000) return echo;
  google::rpc::Status details;
  details.set_code(8);
  details.set_message("Op: x: want less, got more");
  return {.code = 8, .message = "", .details = details.SerializeAsString(), .response = {}};
}

std::vector<Call> CallsOn(const std::vector<float>& values) {
  std::vector<Call> calls;
  for (const int64_t count : {0, 1, 1000, 2000, 3000}) {
    calls.emplace_back("Op");
    calls.back().Input(
        "x", TensorView::Of(std::span(values).first(static_cast<size_t>(count)), {count}));
  }
  return calls;
}

void ExpectEchoed(const BatchResults& results, const std::vector<float>& values) {
  ASSERT_EQ(results.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_THAT(results[i], testing::IsOk());
    const std::span<const float> out = results[i]->Find("out")->As<float>();
    EXPECT_TRUE(std::equal(out.begin(), out.end(), values.begin())) << i;
  }
  EXPECT_EQ(results[4].status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(results[4].status().message(), "Op: x: want less, got more");
}

TEST(ClientBatchTest, ResultsAndErrorsAreEachCallsOwn) {
  const FakeServer server(EchoSmall);
  std::vector<float> values(3000);
  std::iota(values.begin(), values.end(), 1.0f);
  const Client client = Connect(server);
  const absl::StatusOr<BatchResults> results = client.ExecuteBatch(CallsOn(values));
  ASSERT_THAT(results, testing::IsOk());
  ExpectEchoed(*results, values);
}

TEST(ClientBatchTest, EmptyBatchesHaveNoResults) {
  const FakeServer server(Echo);
  const absl::StatusOr<BatchResults> results = Connect(server).ExecuteBatch({});
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_TRUE(results->empty());
}

TEST(ClientBatchTest, Asynchronously) {
  const FakeServer server(EchoSmall);
  std::vector<float> values(3000, 2.0f);
  Mutex mutex;
  CondVar ended;
  std::optional<absl::StatusOr<BatchResults>> results;
  Connect(server).ExecuteBatchAsync(CallsOn(values), {}, [&](absl::StatusOr<BatchResults> came) {
    const MutexLock lock(mutex);
    results.emplace(std::move(came));
    ended.NotifyAll();
  });
  const MutexLock lock(mutex);
  while (!results.has_value()) ended.Wait(mutex);
  ASSERT_TRUE(results->ok()) << results->status();
  ExpectEchoed(**results, values);
}

TEST(ClientBatchTest, FailuresOfTheWholeHaveNoResults) {
  const FakeServer server([](const v1::ExecuteRequest&) {
    return Reply{.code = 13, .message = "broken", .details = "\xff", .response = {}};
  });
  const std::vector<float> values(3000);
  const absl::Status status = Connect(server).ExecuteBatch(CallsOn(values)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("broken"));
}

TEST(ClientBatchTest, RequestsThatAreTooLargeNameTheLimit) {
  const FakeServer server(Echo, 4096);
  const std::vector<float> values(3000);
  const absl::Status status = Connect(server).ExecuteBatch(CallsOn(values)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("want a request of at most 4096 bytes"));
}

TEST(ClientStatisticsTest, AreRead) {
  const FakeServer server(Echo);
  const absl::StatusOr<Statistics> statistics = Connect(server).GetStatistics();
  ASSERT_THAT(statistics, testing::IsOk());
  EXPECT_EQ(statistics->uptime, absl::Milliseconds(1500));
  ASSERT_EQ(statistics->methods.size(), 1u);
  EXPECT_EQ(statistics->methods[0].ended.at("OK"), 7);
  EXPECT_EQ(statistics->errors.at("DRAINING"), 2);
  EXPECT_EQ(statistics->batch_calls, 3);
  EXPECT_EQ(statistics->sessions.open, 4);
  EXPECT_EQ(statistics->engine.queue_wait, absl::Microseconds(5));
  ASSERT_EQ(statistics->operators.size(), 1u);
  EXPECT_EQ(statistics->operators[0].op, "L1Loss");
  EXPECT_EQ(statistics->operators[0].calls, 8);
  EXPECT_EQ(statistics->operators[0].execution, absl::Microseconds(9));
  EXPECT_EQ(statistics->devices[0].device, "cpu:0");
  EXPECT_EQ(statistics->devices[0].memory_hits, 6);
}

}  // namespace
}  // namespace opserve::client
