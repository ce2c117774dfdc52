// Engine::RunSeries: each call as if it was submitted.
#include <cstring>
#include <vector>

#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::CallOf;
using testing::ExpectError;
using testing::FakeClock;
using testing::Floats;
using testing::kParamInvalid;
using testing::kParamNullptr;
using testing::OpCase;
using testing::TestTensor;

constexpr int64_t kElements = 8;
constexpr uint32_t kInputs = 3;

class CallSeriesTest : public ::testing::Test {
 protected:
  CallSeriesTest() {
    EngineOptions options;
    options.devices = {DeviceSpec{.kind = "cpu", .threads = 2}};
    options.memory_limit_bytes = 1 << 20;
    options.client_share = 0.5;
    options.clock = &clock_;
    engine_ = *Engine::Create(options);
    plan_ = *engine_->MakePlan(ToNamedCall(Sample(0)));
  }

  // grad * sign(self - target) with grad = index + 1.
  static OpCase Sample(size_t index) {
    return CallOf("L1LossBackward",
                  {Floats({static_cast<float>(index + 1)}),
                   TestTensor::Full(DType::kFloat32, {kElements}, index % 2 == 0 ? 3 : 1),
                   TestTensor::Full(DType::kFloat32, {kElements}, 2)},
                  {int64_t{0}});
  }
  static float Expected(size_t index) {
    return static_cast<float>(index + 1) * (index % 2 == 0 ? 1.0F : -1.0F);
  }

  CallSeries SeriesOf(size_t count) {
    cases_.clear();
    cases_.reserve(count);
    storages_.clear();
    indices_.resize(count * kInputs);
    calls_ = std::vector<CallSeries::Call>(count);
    for (size_t i = 0; i < count; ++i) {
      const OpCase& one = cases_.emplace_back(Sample(i));
      for (size_t j = 0; j < kInputs; ++j) {
        indices_[i * kInputs + j] = static_cast<uint32_t>(storages_.size());
        storages_.emplace_back(std::span(one.inputs[j]->bytes()));
      }
      calls_[i].storages = std::span(indices_).subspan(i * kInputs, kInputs);
    }
    CallSeries series;
    series.plan = &plan_;
    series.storages = storages_;
    series.calls = calls_;
    return series;
  }

  static void ExpectOutput(const SeriesOutputs& outputs, size_t index) {
    const std::span<const std::byte> bytes = outputs.at(index, 0);
    ASSERT_EQ(bytes.size(), kElements * sizeof(float));
    const auto* values = reinterpret_cast<const float*>(bytes.data());
    for (int64_t i = 0; i < kElements; ++i) EXPECT_EQ(values[i], Expected(index)) << index;
  }

  int64_t used_bytes() { return engine_->devices()[0]->memory().stats().used_bytes; }

  FakeClock clock_;
  std::unique_ptr<Engine> engine_;
  Plan plan_;
  std::vector<OpCase> cases_;
  std::vector<Fragments> storages_;
  std::vector<uint32_t> indices_;
  std::vector<CallSeries::Call> calls_;
};

TEST_F(CallSeriesTest, RunsAllAndCountsThem) {
  {
    const absl::StatusOr<SeriesOutputs> outputs = engine_->RunSeries(SeriesOf(50));
    ASSERT_THAT(outputs, testing::IsOk());
    for (size_t i = 0; i < calls_.size(); ++i) {
      EXPECT_THAT(calls_[i].status, testing::IsOk());
      ExpectOutput(*outputs, i);
    }
  }
  const EngineStatistics counted = engine_->statistics();
  EXPECT_EQ(counted.inline_calls, 50);
  EXPECT_EQ(counted.failed_calls, 0);
  EXPECT_EQ(counted.input_bytes, 50 * plan_.call.input_bytes());
  EXPECT_EQ(counted.output_bytes, 50 * plan_.call.output_bytes());
  ASSERT_EQ(counted.operators.size(), 1u);
  EXPECT_EQ(counted.operators[0].op, plan_.call.op->name);
  EXPECT_EQ(counted.operators[0].calls, 50);
  EXPECT_EQ(used_bytes(), 0);
}

TEST_F(CallSeriesTest, InputsLieInPiecesAtAnyAddress) {
  const CallSeries series = SeriesOf(4);
  const std::span<const std::byte> whole = cases_[2].inputs[1]->bytes();
  std::vector<std::byte> moved(whole.size() + 1);
  std::memcpy(moved.data() + 1, whole.data(), whole.size());
  const std::span<const std::byte> cut = cases_[1].inputs[1]->bytes();
  storages_[1 * kInputs + 1] = Fragments(cut.first(5));
  storages_[1 * kInputs + 1].Append(cut.subspan(5));
  storages_[2 * kInputs + 1] = Fragments(std::span<const std::byte>(moved).subspan(1));
  CallSeries moved_series;
  moved_series.plan = series.plan;
  moved_series.storages = storages_;
  moved_series.calls = calls_;
  const absl::StatusOr<SeriesOutputs> outputs = engine_->RunSeries(std::move(moved_series));
  ASSERT_THAT(outputs, testing::IsOk());
  for (size_t i = 0; i < calls_.size(); ++i) ExpectOutput(*outputs, i);
}

TEST_F(CallSeriesTest, CallsFailByThemselves) {
  CallSeries series = SeriesOf(6);
  storages_[1 * kInputs + 2] = Fragments(std::span(cases_[1].inputs[2]->bytes()).first(16));
  calls_[4].storages = calls_[4].storages.first(2);
  const absl::StatusOr<SeriesOutputs> outputs = engine_->RunSeries(std::move(series));
  ASSERT_THAT(outputs, testing::IsOk());
  ExpectError(calls_[1].status, kParamInvalid, "target");
  ExpectError(calls_[4].status, kParamNullptr, "target");
  for (const size_t i : {0, 2, 3, 5}) {
    EXPECT_THAT(calls_[i].status, testing::IsOk());
    ExpectOutput(*outputs, i);
  }
  EXPECT_EQ(engine_->statistics().failed_calls, 2);
  const OperatorStatistics op = engine_->statistics().operators.at(0);
  EXPECT_EQ(op.ended[static_cast<size_t>(absl::StatusCode::kOk)], 4);
  EXPECT_EQ(op.ended[static_cast<size_t>(absl::StatusCode::kInvalidArgument)], 2);
  EXPECT_EQ(op.executed[0], 6);
  EXPECT_EQ(engine_->statistics().output_bytes, 4 * plan_.call.output_bytes());
}

TEST_F(CallSeriesTest, ExpiredAndCancelledOnesDoNotRun) {
  CallSeries late = SeriesOf(3);
  late.deadline = clock_.Now() - absl::Nanoseconds(1);
  ASSERT_THAT(engine_->RunSeries(std::move(late)), testing::IsOk());
  for (const CallSeries::Call& call : calls_)
    EXPECT_EQ(call.status.code(), absl::StatusCode::kDeadlineExceeded);
  CallSeries gone = SeriesOf(3);
  gone.cancelled = [] { return true; };
  ASSERT_THAT(engine_->RunSeries(std::move(gone)), testing::IsOk());
  for (const CallSeries::Call& call : calls_)
    EXPECT_EQ(call.status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(engine_->statistics().expired_calls, 3);
  EXPECT_EQ(engine_->statistics().operators.at(0).ended[4], 3);  // DEADLINE_EXCEEDED
  EXPECT_EQ(engine_->statistics().failed_calls, 0);
  EXPECT_EQ(engine_->statistics().cancelled_calls, 3);
  EXPECT_EQ(engine_->statistics().output_bytes, 0);
}

TEST_F(CallSeriesTest, NoneBeginsWithoutMemoryForAll) {
  const absl::StatusOr<PooledBuffer> most = engine_->devices()[0]->memory().Acquire(896 << 10);
  ASSERT_THAT(most, testing::IsOk());
  ASSERT_THAT(engine_->RunSeries(SeriesOf(100)), testing::IsOk());
  const absl::Status status = engine_->RunSeries(SeriesOf(4000)).status();
  ExpectError(status, ErrorReason::kResourceLimit, "memory limit");
  EXPECT_EQ(engine_->statistics().inline_calls, 100);
}

TEST_F(CallSeriesTest, WhatIsGatheredIsChargedToItsClient) {
  constexpr ClientId kClient{1};
  MemoryPool& memory = engine_->devices()[0]->memory();
  std::vector<PooledBuffer> held;
  for (auto lease = memory.Acquire(64, {.client = kClient}); lease.ok();
       lease = memory.Acquire(64, {.client = kClient}))
    held.push_back(*std::move(lease));
  held.pop_back();  // for the output
  const CallSeries series = SeriesOf(1);
  const std::span<const std::byte> whole = cases_[0].inputs[1]->bytes();
  storages_[1] = Fragments(whole.first(4));
  storages_[1].Append(whole.subspan(4));
  CallSeries charged;
  charged.plan = series.plan;
  charged.storages = storages_;
  charged.calls = calls_;
  charged.client = kClient;
  const absl::StatusOr<SeriesOutputs> outputs = engine_->RunSeries(std::move(charged));
  ASSERT_THAT(outputs, testing::IsOk());
  ExpectError(calls_[0].status, ErrorReason::kResourceLimit, "memory limit");
}

}  // namespace
}  // namespace opserve
