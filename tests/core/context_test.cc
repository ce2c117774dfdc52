#include "core/device/context.h"

#include <limits>
#include <optional>

#include "core/backends/cpu/cpu_device.h"
#include "core/base/op_error.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::FakeClock;
using testing::Signal;

class ContextTest : public ::testing::Test {
 protected:
  static constexpr int64_t kDeviceBytes = 1 << 20;
  static constexpr int64_t kBudgetBytes = 1 << 16;

  std::unique_ptr<Context> MakeContext() {
    return std::make_unique<Context>(*device_, budget_, clock_);
  }

  static Stream::Failure Synchronize(Context& context) {
    Signal ended;
    Stream::Failure result;
    context.Synchronize([&](Stream::Failure failure) {
      result = std::move(failure);
      ended.Notify();
    });
    ended.Wait();
    return result;
  }

  static Stream::Command Fail(uint64_t id) {
    return {.id = id, .run = [] { return absl::InternalError("boom"); }, .done = {}};
  }

  FakeClock clock_;
  std::unique_ptr<Device> device_ = cpu::MakeCpuDevice(
      {.name = "cpu:0", .threads = 2, .memory_limit_bytes = kDeviceBytes}, clock_);
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(kBudgetBytes);
};

TEST_F(ContextTest, MemoryIsCountedUntilTheLastUserLetsGo) {
  const auto context = MakeContext();
  auto buffer = context->Allocate(1000);
  ASSERT_THAT(buffer, testing::IsOk());
  EXPECT_EQ((*buffer)->size_bytes(), 1000);
  EXPECT_EQ(budget_->stats().used_bytes, 1000);
  std::shared_ptr<DeviceBuffer> other = *buffer;
  buffer = absl::CancelledError();
  EXPECT_EQ(budget_->stats().used_bytes, 1000);
  other.reset();
  EXPECT_EQ(budget_->stats().used_bytes, 0);
  EXPECT_EQ(budget_->stats().peak_bytes, 1000);
  EXPECT_EQ(device_->memory().stats().used_bytes, 0);
}

TEST_F(ContextTest, TheBudgetIsABoundOverAllContexts) {
  const auto first = MakeContext();
  const auto second = MakeContext();
  const auto most = first->Allocate(kBudgetBytes - 10);
  ASSERT_THAT(most, testing::IsOk());
  for (const int64_t bytes : {int64_t{11}, std::numeric_limits<int64_t>::max()}) {
    const absl::Status status = second->Allocate(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(GetErrorDetail(status)->parameter, "size_bytes");
  }
  EXPECT_THAT(second->Allocate(10), testing::IsOk());
  EXPECT_EQ(second->Allocate(-1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ContextTest, WhatTheDeviceHasNotIsNotTakenFromTheBudget) {
  budget_ = std::make_shared<MemoryBudget>(2 * kDeviceBytes);
  const auto context = MakeContext();
  EXPECT_EQ(context->Allocate(kDeviceBytes + 1).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(budget_->stats().used_bytes, 0);
}

TEST_F(ContextTest, SynchronizeWaitsForAllStreamsAndTellsTheFirstFailure) {
  const auto context = MakeContext();
  EXPECT_THAT(Synchronize(*context).status, testing::IsOk());  // no streams
  const auto first = context->CreateStream(Stream::OnFailure::kStop);
  const auto second = context->CreateStream(Stream::OnFailure::kStop);
  const auto third = context->CreateStream(Stream::OnFailure::kStop);
  second->Enqueue(Fail(5));
  third->Enqueue(Fail(6));
  EXPECT_EQ(Synchronize(*context).command, 5u);
  EXPECT_THAT(Synchronize(*context).status, testing::IsOk());
}

TEST_F(ContextTest, AStreamIsDestroyedByItsOwnContext) {
  const auto context = MakeContext();
  const auto other = MakeContext();
  const auto stream = context->CreateStream(Stream::OnFailure::kStop);
  EXPECT_EQ(GetErrorDetail(other->DestroyStream(stream))->parameter, "stream");
  EXPECT_THAT(context->DestroyStream(stream), testing::IsOk());
  EXPECT_FALSE(context->DestroyStream(stream).ok());
  absl::Status late;
  stream->Enqueue({.id = 1,
                   .run = [] { return absl::OkStatus(); },
                   .done = [&](absl::Status status) { late = std::move(status); }});
  EXPECT_EQ(late.code(), absl::StatusCode::kCancelled);
}

TEST_F(ContextTest, TheEndDropsWhatWaitsAndKeepsWhatRunsAlive) {
  auto context = MakeContext();
  const auto stream = context->CreateStream(Stream::OnFailure::kStop);
  auto buffer = *context->Allocate(64);
  Signal started;
  Signal go;
  Signal ended;
  stream->Enqueue({.id = 1,
                   .run =
                       [&, held = std::move(buffer)] {
                         started.Notify();
                         go.Wait();
                         held->data()[63] = std::byte{1};
                         return absl::OkStatus();
                       },
                   .done = [&](const absl::Status&) { ended.Notify(); }});
  started.Wait();
  auto waiting = *context->Allocate(128);
  stream->Enqueue(
      {.id = 2, .run = [held = std::move(waiting)] { return absl::OkStatus(); }, .done = {}});
  EXPECT_EQ(budget_->stats().used_bytes, 192);
  context.reset();
  EXPECT_EQ(budget_->stats().used_bytes, 64);
  go.Notify();
  ended.Wait();
  EXPECT_EQ(budget_->stats().used_bytes, 0);
}

}  // namespace
}  // namespace opserve
