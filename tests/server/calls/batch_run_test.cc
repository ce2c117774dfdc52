#include "server/calls/batch_run.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using server::BatchRun;

constexpr ClientId kClient{1};
constexpr ClientId kOther{2};
constexpr int64_t kMaxMessageBytes = 4 << 20;

// Of two devices with a thread and a mebibyte each.
std::unique_ptr<Engine> MakeSmallEngine() {
  EngineOptions options;
  options.devices.assign(2, {.kind = "cpu", .threads = 1});
  options.memory_limit_bytes = 2 << 20;
  options.client_share = 0.5;
  return *Engine::Create(options);
}

class BatchRunTest : public ::testing::Test {
 protected:
  // Until Wait. The message stays.
  void Start(v1::ExecuteBatchRequest request) {
    request_ = std::move(request);
    server::ScannedMessage message;
    for (const std::string& entry : request_.raw())
      message.bulk.emplace_back(std::as_bytes(std::span(entry)));
    v1::ExecuteBatchRequest without_raw = request_;
    without_raw.clear_raw();
    message.header = without_raw.SerializeAsString();
    ASSERT_THAT(run_.Read(std::move(message), nullptr, kMaxMessageBytes), IsOk());
    run_.Run(kClient, [this](const absl::StatusOr<server::WrittenMessage>& answer) {
      ended_with_ = answer.status();
      ended_.Notify();
    });
  }
  absl::Status Wait() {
    ended_.Wait();
    return ended_with_;
  }

  // Of calls that ran without waiting for a worker of their own.
  int64_t Inline() { return engine_->statistics().inline_calls; }
  MemoryPool& memory() { return engine_->devices()[0]->memory(); }

  const std::unique_ptr<Engine> engine_ = MakeSmallEngine();
  server::ServerCounters counters_;
  v1::ExecuteBatchRequest request_;
  BatchRun run_{*engine_, counters_, nullptr, absl::InfiniteFuture()};
  Signal ended_;
  absl::Status ended_with_;
};

TEST_F(BatchRunTest, WhatItsCallsMadeIsChargedToItsClient) {
  constexpr int kCalls = 900;
  v1::ExecuteRequest kilobyte;
  kilobyte.mutable_call()->set_op("Hardshrink");
  AddInput(kilobyte, "self", v1::DATA_TYPE_FLOAT32, {256}, {3}).add_strides(0);
  AddFloat(*kilobyte.mutable_call(), "lambd", 0.5);
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < kCalls; ++i) AddToBatch(batch, kilobyte);
  // One that waits elsewhere keeps the results of the others.
  HeldWorker worker(engine_->devices()[1]->workers());
  AddToBatch(batch, LongRequest(kLarge)).set_device(engine_->devices()[1]->info().name);
  Start(std::move(batch));
  while (Inline() < kCalls) std::this_thread::yield();
  EXPECT_GT(memory().stats().used_bytes, 384 << 10);
  EXPECT_THAT(memory().Acquire(256 << 10, {.client = kOther}), IsOk());
  worker.Release();
  EXPECT_THAT(Wait(), IsOk());
}

TEST_F(BatchRunTest, WhatComputesForLongerThanATurnWaitsForAWorker) {
  constexpr int kCalls = 100;
  HeldWorker worker(engine_->devices()[0]->workers());
  v1::ExecuteBatchRequest batch;
  for (int i = 0; i < kCalls; ++i) AddToBatch(batch, LongRequest(64'000));  // 16 us
  Start(std::move(batch));
  EXPECT_GT(Inline(), 1);
  EXPECT_LT(Inline(), 20);
  EXPECT_EQ(engine_->statistics().calls_in_flight, 1);
  EXPECT_GT(engine_->statistics().expected_wait, absl::Milliseconds(1));
  worker.Release();
  EXPECT_THAT(Wait(), IsOk());
  EXPECT_EQ(Inline(), kCalls);
}

}  // namespace
}  // namespace opserve::testing
