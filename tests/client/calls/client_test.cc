#include <opserve/client.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/mutex.h"
#include "tests/client/calls/fake_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;

std::vector<float> Iota(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(ClientTest, ExecutesSmallAndLargeCalls) {
  const FakeServer server(Echo);
  const Client client = Connect(server);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{1024}, size_t{1025}, size_t{3} << 20}) {
    const std::vector<float> values = Iota(count);
    const absl::StatusOr<ExecuteResult> result = client.Execute(
        Call("Op").Input("x", TensorView::Of(values, {static_cast<int64_t>(count)})));
    ASSERT_THAT(result, testing::IsOk());
    const std::span<const float> out = result->Find("out")->As<float>();
    EXPECT_TRUE(std::equal(out.begin(), out.end(), values.begin(), values.end())) << count;
  }
}

TEST(ClientTest, OwnersAreKeptAsLongAsNeededAndThenReleased) {
  const FakeServer server(Echo);
  std::weak_ptr<const void> watched;
  {
    const Client client = Connect(server);
    auto values = std::make_shared<const std::vector<float>>(Iota(1 << 20));
    watched = values;
    TensorView view = TensorView::Of(*values, {1 << 20});
    view.owner = std::move(values);
    std::optional<Call> call("Op");
    call->Input("x", std::move(view));
    Mutex mutex;
    CondVar ended;
    std::optional<absl::StatusOr<ExecuteResult>> result;
    client.ExecuteAsync(*call, {}, [&](absl::StatusOr<ExecuteResult> value) {
      const MutexLock lock(mutex);
      result.emplace(std::move(value));
      ended.NotifyAll();
    });
    call.reset();
    const MutexLock lock(mutex);
    while (!result.has_value()) ended.Wait(mutex);
    ASSERT_THAT((*result), testing::IsOk()) << result->status();
    EXPECT_EQ((*result)->Find("out")->As<float>().back(), 1 << 20);
  }
  // The transport may drop its last reference a moment after the answer.
  for (int i = 0; i < 5000 && !watched.expired(); ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(watched.expired());
}

TEST(ClientTest, ManyAsynchronousCallsEndOnce) {
  const FakeServer server(Echo);
  const Client client = Connect(server);
  constexpr int kCalls = 200;
  const std::vector<float> values = Iota(2000);
  Mutex mutex;
  CondVar ended;
  int good = 0;
  int all = 0;
  for (int i = 0; i < kCalls; ++i) {
    client.ExecuteAsync(Call("Op").Input("x", TensorView::Of(values, {2000})), {},
                        [&](const absl::StatusOr<ExecuteResult>& result) {
                          const MutexLock lock(mutex);
                          if (result.ok() && result->Find("out")->As<float>()[1999] == 2000.0f)
                            ++good;
                          ++all;
                          ended.NotifyAll();
                        });
  }
  const MutexLock lock(mutex);
  while (all < kCalls) ended.Wait(mutex);
  EXPECT_EQ(good, kCalls);
}

TEST(ClientTest, MayGoWhileItsCallsRunAndFromACallback) {
  const FakeServer server(Echo);
  const std::vector<float> values = Iota(4);
  for (int i = 0; i < 100; ++i) {
    Mutex mutex;
    CondVar ended;
    bool done = false;
    std::optional<Client> client(Connect(server));
    auto held = std::make_unique<Client>(*client);
    client->ExecuteAsync(
        Call("Op").Input("x", TensorView::Of(values, {4})), {},
        [&, held = std::move(held)](const absl::StatusOr<ExecuteResult>& result) mutable {
          EXPECT_THAT(result, testing::IsOk());
          held.reset();
          const MutexLock lock(mutex);
          done = true;
          ended.NotifyAll();
        });
    client.reset();
    const MutexLock lock(mutex);
    while (!done) ended.Wait(mutex);
  }
}

TEST(ClientTest, ResultsCanBeSentOn) {
  const FakeServer server(Echo);
  const Client client = Connect(server);
  const std::vector<float> values = Iota(5000);
  absl::StatusOr<ExecuteResult> result =
      client.Execute(Call("Op").Input("x", TensorView::Of(values, {5000})));
  ASSERT_THAT(result, testing::IsOk());
  result = client.Execute(Call("Op").Input("x", result->Find("out")->View()));
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(result->Find("out")->As<float>().back(), 5000.0f);
}

TEST(ClientTest, ReadsServerInfoAndDevices) {
  const FakeServer server(Echo);
  const Client client = Connect(server);
  const absl::StatusOr<ServerInfo> info = client.GetServerInfo();
  ASSERT_THAT(info, testing::IsOk());
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->max_message_bytes, 64 << 20);
  EXPECT_EQ(info->max_rank, 8);
  const absl::StatusOr<std::vector<Device>> devices = client.ListDevices();
  ASSERT_THAT(devices, testing::IsOk());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ(devices->front().name, "cpu:0");
  EXPECT_EQ(devices->front().threads, 2);
  EXPECT_THAT(devices->front().operators, ElementsAre("Op"));
  EXPECT_EQ(devices->front().memory.limit_bytes, 7);
  EXPECT_EQ(devices->front().lost, "");
  EXPECT_EQ(devices->back().lost, "fell off the bus");
}

TEST(ClientTest, ReadsSchemasOfNewerServersToo) {
  const FakeServer server(Echo);
  const std::vector<std::string> names = {"A", "B"};
  const absl::StatusOr<std::vector<OperatorSchema>> schemas = Connect(server).ListOperators(names);
  ASSERT_THAT(schemas, testing::IsOk());
  ASSERT_EQ(schemas->size(), 2u);
  const OperatorSchema& schema = schemas->back();
  EXPECT_EQ(schema.name, "B");
  EXPECT_TRUE(schema.inputs[0].optional);
  EXPECT_THAT(schema.inputs[0].dtypes, ElementsAre(DType::kBFloat16));
  EXPECT_EQ(schema.attributes[0].kind, AttributeKind::kIntList);
  EXPECT_FALSE(schema.attributes[0].default_value.has_value());
  EXPECT_EQ(schema.attributes[1].kind, AttributeKind::kUnknown);
  EXPECT_EQ(schema.attributes[1].default_value, AttributeValue(0.5));
  EXPECT_FALSE(schema.attributes[0].range.has_value());
  EXPECT_EQ(schema.attributes[0].choices[0].value, 3);
  EXPECT_EQ(schema.attributes[0].choices[0].name, "three");
  EXPECT_EQ(schema.attributes[0].list_length, 2);
  EXPECT_FALSE(schema.attributes[1].range->minimum.has_value());
  EXPECT_EQ(schema.attributes[1].range->maximum, 1);
  EXPECT_TRUE(schema.attributes[1].range->maximum_excluded);
  EXPECT_EQ(schema.gradient->op, "BBackward");
  EXPECT_EQ(schema.gradient->inputs[0].source, GradientInput::Source::kOutputGradient);
  EXPECT_EQ(schema.gradient->inputs[0].origin, "y");
  EXPECT_EQ(schema.gradient->inputs[1].source, GradientInput::Source::kUnknown);
  EXPECT_EQ(schema.gradient->outputs[0].input, "x");
  EXPECT_EQ(schema.support[0].profile, "host");
  EXPECT_TRUE(schema.streams_in_chunks);
}

TEST(ClientTest, PlansWithoutData) {
  const FakeServer server(Echo);
  const std::vector<float> values = Iota(6);
  const absl::StatusOr<Plan> plan =
      Connect(server).GetWorkspaceSize(Call("Op").Input("x", TensorView::Of(values, {2, 3})));
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->workspace_bytes, 64);
  EXPECT_EQ(plan->device, "cpu:0");
  EXPECT_EQ(plan->cost.time, absl::Nanoseconds(1500));
  EXPECT_TRUE(plan->cost.runs_inline);
  ASSERT_EQ(plan->outputs.size(), 1u);
  EXPECT_THAT(plan->outputs[0].desc.shape, ElementsAre(2, 3));
}

}  // namespace
}  // namespace opserve::client
