// Large tensors that go through shared memory by themselves, against a real server.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <opserve/client.h>

#include "absl/time/clock.h"
#include "client/cpp/memory/local_memory.h"
#include "client/cpp/memory/region_pool.h"
#include "tests/client/session/session_server.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

constexpr int64_t kLargeCount = 64 << 10;

std::vector<std::byte> Bits(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bits(bytes);
  for (std::byte& byte : bits) byte = std::byte(random() & 1);
  return bits;
}

Call GradientCall(const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Call call("SmoothL1LossBackward");
  call.Input("grad_out", TensorView::Of(values, {count}))
      .Input("self", TensorView::Of(values, {count}))
      .Input("target", TensorView::Of(values, {count}).WithStrides({0}))
      .Attribute("reduction", 0)
      .Attribute("beta", 1.0);
  return call;
}

class LocalMemoryTest : public opserve::testing::ServerTest {
 protected:
  LocalMemoryTest() {
    config_.shared_memory = {.socket = (folder_ / "memory").string(), .limit_bytes = 16 << 20};
  }

  void SetUp() override {
    ServerTest::SetUp();
    address_ = server().addresses()[0];
    bytes_.emplace(*Client::Connect(address_, {.shared_memory_bytes = 0}));
  }

  auto Stats() { return tcp().GetStatistics().response.shared_memory(); }

  // Twice, as outputs are known the second time.
  void ExpectAsByBytes(const Client& client, const Call& call) {
    const absl::StatusOr<ExecuteResult> want = bytes_->Execute(call);
    for (int i = 0; i < 2; ++i) {
      const absl::StatusOr<ExecuteResult> got = client.Execute(call);
      ASSERT_EQ(got.status(), want.status());
      if (!want.ok()) continue;
      ASSERT_EQ(got->outputs.size(), want->outputs.size());
      for (size_t j = 0; j < got->outputs.size(); ++j)
        ExpectSame(got->outputs[j].tensor, want->outputs[j].tensor);
    }
  }

  std::string address_;
  std::optional<Client> bytes_;
};

TEST_F(LocalMemoryTest, EveryDTypeIsAsByBytes) {
  const Client client = *Client::Connect(address_);
  const std::vector<std::byte> target = Bits(4 * kLargeCount, 1);
  for (const DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kInt8, DType::kInt16,
        DType::kInt32, DType::kInt64, DType::kUint8, DType::kBool}) {
    const std::vector<std::byte> self = Bits(DTypeSize(dtype) * kLargeCount, 2);
    Call call("L1Loss");
    call.Input("self", TensorView::OfBytes(dtype, std::vector<int64_t>{kLargeCount}, self))
        .Input("target",
               TensorView::OfBytes(DType::kFloat32, std::vector<int64_t>{kLargeCount}, target))
        .Attribute("reduction", 0);
    ASSERT_THAT(client.Execute(call), testing::IsOk()) << DTypeName(dtype);
    ExpectAsByBytes(client, call);
    call.OutputDType("out", DType::kFloat16);
    ExpectAsByBytes(client, call);
  }
  EXPECT_GT(Stats().allocated(), 2);
}

TEST_F(LocalMemoryTest, InputsAndOutputsAreReused) {
  for (const std::string& target : server().addresses()) {
    const int64_t before = Stats().allocated();
    const Client client = *Client::Connect(target);
    const std::vector<float> values(kLargeCount, 2.0f);
    for (int i = 0; i < 20; ++i) ASSERT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
    EXPECT_EQ(Stats().allocated() - before, 2) << target;
  }
}

TEST_F(LocalMemoryTest, SmallTensorsAreSent) {
  const Client client = *Client::Connect(address_);
  const std::vector<float> values(kLeastSharedBytes / 4 - 1, 2.0f);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
  EXPECT_EQ(Stats().allocated(), 0);
}

TEST_F(LocalMemoryTest, OneSwitchTurnsItOff) {
  const std::vector<float> values(kLargeCount, 2.0f);
  for (int i = 0; i < 2; ++i) ASSERT_THAT(bytes_->Execute(GradientCall(values)), testing::IsOk());
  ASSERT_EQ(setenv("OPSERVE_SHARED_MEMORY", "off", 1), 0);
  const Client client = *Client::Connect(address_);
  unsetenv("OPSERVE_SHARED_MEMORY");
  for (int i = 0; i < 2; ++i) ASSERT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
  EXPECT_EQ(Stats().allocated(), 0);
}

TEST_F(LocalMemoryTest, MistakesAreThoseOfBytes) {
  const Client client = *Client::Connect(address_);
  const std::vector<float> values(kLargeCount, 2.0f);
  Call negative = GradientCall(values);
  negative.Attribute("beta", -1.0);
  ExpectAsByBytes(client, negative);
  ExpectAsByBytes(client,
                  Call("NoSuchOperator").Input("self", TensorView::Of(values, {kLargeCount})));
  ExpectAsByBytes(client, Call("Tanh").Input("self", TensorView::Of(values, {kLargeCount - 1})));
  ExpectAsByBytes(client, GradientCall(values));  // memory was not at fault
  EXPECT_GT(Stats().regions(), 0);
}

// What does not fit into the client's bound, or the server's, goes by bytes.
TEST_F(LocalMemoryTest, BoundsLoseNoCall) {
  std::vector<float> values(kLargeCount, 2.0f);
  const Client client = *Client::Connect(address_, {.shared_memory_bytes = 1 << 20});
  std::vector<ExecuteResult> kept;
  for (int i = 0; i < 8; ++i) {
    values[0] = static_cast<float>(i);
    absl::StatusOr<ExecuteResult> result = client.Execute(GradientCall(values));
    ASSERT_THAT(result, testing::IsOk());
    kept.push_back(*std::move(result));
    EXPECT_LE(Stats().bytes(), 1 << 20);
  }
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(
        kept[static_cast<size_t>(i)].outputs[0].tensor.As<float>()[0],
        bytes_->Execute(GradientCall({static_cast<float>(i)}))->outputs[0].tensor.As<float>()[0]);
  const Client hungry = *Client::Connect(address_);
  const std::vector<float> large(5 << 20, 1.0f);  // 20 MiB of a server that gives 16
  ExpectAsByBytes(hungry, GradientCall(large));
  EXPECT_GT(Stats().refused(), 0);
}

TEST_F(LocalMemoryTest, ResultsKeepTheirMemory) {
  std::optional<ExecuteResult> result;
  const std::vector<float> values(kLargeCount, 2.0f);
  {
    const Client client = *Client::Connect(address_);
    for (int i = 0; i < 2; ++i) result = *client.Execute(GradientCall(values));
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> others(kLargeCount, static_cast<float>(i));
      ASSERT_THAT(client.Execute(GradientCall(others)), testing::IsOk());
    }
  }
  EXPECT_EQ(Stats().regions(), 1 + 2);  // the connection that the result keeps has all of them
  ExpectSame(result->outputs[0].tensor, bytes_->Execute(GradientCall(values))->outputs[0].tensor);
  result.reset();
  for (int i = 0; i < 20'000 && Stats().regions() != 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(Stats().regions(), 0);
}

TEST_F(LocalMemoryTest, WithoutTheSocketBytesAreSent) {
  std::filesystem::remove(folder_ / "memory");
  const Client client = *Client::Connect(address_);
  ExpectAsByBytes(client, GradientCall(std::vector<float>(kLargeCount, 2.0f)));
  EXPECT_EQ(Stats().allocated(), 0);
}

TEST_F(LocalMemoryTest, ManyThreadsAtOnce) {
  const Client client = *Client::Connect(address_, {.shared_memory_bytes = 8 << 20});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&client, t] {
      const std::vector<float> values(static_cast<size_t>(kLargeCount + 5000 * t),
                                      static_cast<float>(t + 1));
      for (int i = 0; i < 30; ++i) {
        const absl::StatusOr<ExecuteResult> result = client.Execute(GradientCall(values));
        ASSERT_THAT(result, testing::IsOk());
        const std::span<const float> gradient = result->outputs[0].tensor.As<float>();
        ASSERT_EQ(gradient.size(), values.size());
        for (const float value : gradient) ASSERT_EQ(value, 0.0f);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class WithoutLocalMemoryTest : public opserve::testing::ServerTest {};

TEST_F(WithoutLocalMemoryTest, BytesAreSent) {
  const Client client = *Client::Connect(server().addresses()[0]);
  const std::vector<float> values(kLargeCount, 2.0f);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
}

// The client's regions are those of a server that is no more.
TEST(LocalMemoryRestartTest, NoCallIsLost) {
  opserve::testing::TestServer first;
  const std::string target = "unix:" + (first.folder / "socket").string();
  first.config.shared_memory = {.socket = (first.folder / "memory").string(),
                                .limit_bytes = 64 << 20};
  first.Start();
  const Client client = *Client::Connect(target, {.tries = 100});
  const std::vector<float> values(kLargeCount, 2.0f);
  const ExecuteResult want = *client.Execute(GradientCall(values));
  ASSERT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
  first.Stop();
  first.Start();
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<ExecuteResult> got = client.Execute(GradientCall(values));
    ASSERT_THAT(got, testing::IsOk());
    ExpectSame(got->outputs[0].tensor, want.outputs[0].tensor);
  }
  absl::SleepFor(absl::Seconds(1));  // as long as the memory is left alone after a refusal
  for (int i = 0; i < 2; ++i) ASSERT_THAT(client.Execute(GradientCall(values)), testing::IsOk());
  EXPECT_GT(first.tcp().GetStatistics().response.shared_memory().allocated(), 0);
}

class RegionPoolTest : public LocalMemoryTest {
 protected:
  std::shared_ptr<RegionPool> MakePool(absl::Duration idle) {
    auto pool = std::make_shared<RegionPool>((folder_ / "memory").string(), budget_,
                                             absl::Minutes(1), idle);
    EXPECT_THAT(pool->Connect(absl::InfiniteFuture()), testing::IsOk());
    return pool;
  }

  // The server hears of what goes back a little later.
  void ExpectRegions(int64_t count) {
    for (int i = 0; i < 20'000 && Stats().regions() != count; ++i)
      absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(Stats().regions(), count);
  }

  const std::shared_ptr<RegionBudget> budget_ = std::make_shared<RegionBudget>(1 << 20);
};

TEST_F(RegionPoolTest, SpoiledRegionsGoBackToTheServer) {
  const std::shared_ptr<RegionPool> pool = MakePool(absl::Hours(1));
  const std::string first = (*pool->Take(100'000, absl::InfiniteFuture()))->id;
  {
    const std::shared_ptr<SharedRegion> region = *pool->Take(100'000, absl::InfiniteFuture());
    EXPECT_EQ(region->id, first);
    EXPECT_NE((*pool->Take(100'000, absl::InfiniteFuture()))->id, first);
    region->is_spoiled = true;
  }
  ExpectRegions(1);
  EXPECT_NE((*pool->Take(100'000, absl::InfiniteFuture()))->id, first);
}

TEST_F(RegionPoolTest, WhatIsFreeMakesRoom) {
  const std::shared_ptr<RegionPool> pool = MakePool(absl::Hours(1));
  { const auto region = *pool->Take(900'000, absl::InfiniteFuture()); }
  const auto region = *pool->Take(500'000, absl::InfiniteFuture());
  EXPECT_EQ(Stats().regions(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(pool->Take(600'000, absl::InfiniteFuture()).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      pool->Take(std::numeric_limits<int64_t>::max(), absl::InfiniteFuture()).status()));
}

// As when many threads begin at once: who comes too late goes without, and the others are served.
TEST_F(RegionPoolTest, LateTurnsBreakNothing) {
  const std::shared_ptr<RegionPool> pool = MakePool(absl::Hours(1));
  EXPECT_TRUE(absl::IsResourceExhausted(pool->Take(1000, absl::InfinitePast()).status()));
  EXPECT_EQ(budget_->bytes(), 0);
  EXPECT_THAT(pool->Take(1000, absl::InfiniteFuture()), testing::IsOk());
}

TEST_F(RegionPoolTest, IdleRegionsGoBack) {
  const std::shared_ptr<RegionPool> pool = MakePool(absl::Milliseconds(5));
  { const auto region = *pool->Take(900'000, absl::InfiniteFuture()); }
  for (int i = 0; i < 20'000 && budget_->bytes() != 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(budget_->bytes(), 0);
  ExpectRegions(0);
}

}  // namespace
}  // namespace opserve::client
