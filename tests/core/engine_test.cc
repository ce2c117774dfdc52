#include "core/engine/engine.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

#include "core/op/op_table.h"
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

OpCase Sample(int64_t count) {
  return CallOf("L1LossBackward",
                {Floats({2}), TestTensor::Full(DType::kFloat32, {count}, 3),
                 TestTensor::Full(DType::kFloat32, {count}, 1)},
                {int64_t{0}});
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    EngineOptions options;
    options.devices = {DeviceSpec{.kind = "cpu", .threads = 2}};
    options.memory_limit_bytes = 8 << 20;
    options.clock = &clock_;
    engine_ = *Engine::Create(options);
  }

  // What `done` got, once everything is over.
  absl::StatusOr<Outputs> Submit(OneShot shot) {
    return testing::SubmitAndWait(*engine_, std::move(shot));
  }

  OneShot ShotOf(const OpCase& op_case) {
    OneShot shot;
    shot.plan = *engine_->MakePlan(ToNamedCall(op_case));
    for (const auto& input : op_case.inputs) shot.storages.emplace_back(std::span(input->bytes()));
    return shot;
  }

  int64_t used_bytes() { return engine_->devices()[0]->memory().stats().used_bytes; }

  FakeClock clock_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, RunsSmallAndLargeCalls) {
  for (const int64_t count : {0, 1, 1000, 300'000}) {
    const OpCase op_case = Sample(count);
    const absl::StatusOr<Outputs> outputs = Submit(ShotOf(op_case));
    ASSERT_THAT(outputs, testing::IsOk());
    ASSERT_EQ(outputs->size(), 1u);
    EXPECT_EQ((*outputs)[0].name, "grad_input");
    const auto* values = reinterpret_cast<const float*>((*outputs)[0].bytes.data());
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(values[i], 2.0f);
  }
  EXPECT_EQ(used_bytes(), 0);
}

TEST_F(EngineTest, GathersPiecesAtAnyAddress) {
  const OpCase op_case = Sample(300'001);
  OneShot shot = ShotOf(op_case);
  // The same bytes, one off alignment, in pieces of an odd size.
  std::vector<std::byte> moved(op_case.inputs[1]->bytes().size() + 1);
  std::memcpy(moved.data() + 1, op_case.inputs[1]->bytes().data(), moved.size() - 1);
  shot.storages[1] = Fragments();
  for (size_t at = 1; at < moved.size(); at += 60'001) {
    shot.storages[1].Append(
        std::span(moved).subspan(at, std::min<size_t>(60'001, moved.size() - at)));
  }
  const absl::StatusOr<Outputs> outputs = Submit(std::move(shot));
  ASSERT_THAT(outputs, testing::IsOk());
  const auto* values = reinterpret_cast<const float*>((*outputs)[0].bytes.data());
  for (int64_t i = 0; i < 300'001; ++i) ASSERT_EQ(values[i], 2.0f) << i;
}

// 12 KiB that stand for two million elements.
TEST_F(EngineTest, SumsOfBroadcastInputsAreNotTiny) {
  const auto plan_of = [this](int64_t rows, int64_t columns) {
    NamedCall call;
    call.op = *FindOperator("L1Loss");
    call.inputs = {{"self", TensorDesc::Dense(DType::kFloat32, Dims{rows, 1})},
                   {"target", TensorDesc::Dense(DType::kFloat32, Dims{1, columns})}};
    call.attributes = {{"reduction", int64_t{2}}};
    return *engine_->MakePlan(call);
  };
  EXPECT_TRUE(RunsInline(plan_of(2, 4)));
  const Plan large = plan_of(2048, 1024);
  EXPECT_FALSE(RunsInline(large));
  EXPECT_GT(large.cost.time, absl::Microseconds(500));
}

// What a view repeats comes out of the cache.
TEST_F(EngineTest, RepeatedElementsTakeLessTimeThanAsManyOfTheirOwn) {
  const auto time_of = [this](const Dims& strides) {
    NamedCall call;
    call.op = *FindOperator("L1Loss");
    TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{4096, 4096});
    desc.strides = strides;
    call.inputs = {{"self", desc}, {"target", desc}};
    call.attributes = {{"reduction", int64_t{1}}};
    return engine_->MakePlan(call)->cost.time;
  };
  const absl::Duration dense = time_of({4096, 1});
  EXPECT_GT(dense, absl::Milliseconds(10));
  EXPECT_LT(time_of({0, 0}), dense / 2);
  EXPECT_GT(time_of({0, 0}), dense / 10);
}

TEST_F(EngineTest, BytesMustMatchTheShape) {
  for (const int64_t count : {8, 300'000}) {
    const OpCase op_case = Sample(count);
    OneShot shot = ShotOf(op_case);
    shot.storages[2] = Fragments(std::span(op_case.inputs[2]->bytes()).first(16));
    ExpectError(Submit(std::move(shot)).status(), kParamInvalid, "target");
    shot = ShotOf(op_case);
    Plan plan = *shot.plan;
    plan.storages[1] = -1;
    shot.plan = std::move(plan);
    ExpectError(Submit(std::move(shot)).status(), kParamNullptr, "self");
  }
  EXPECT_EQ(used_bytes(), 0);
}

TEST_F(EngineTest, TheMemoryLimitRefusesByName) {
  const OpCase op_case = Sample(3'000'000);
  const absl::Status status = Submit(ShotOf(op_case)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  ExpectError(status, ErrorReason::kResourceLimit, "memory limit");
  EXPECT_EQ(used_bytes(), 0);
  const OpCase small = Sample(8);
  EXPECT_THAT(Submit(ShotOf(small)), testing::IsOk());
}

TEST_F(EngineTest, ExpiredAndCancelledCallsDoNotRun) {
  for (const int64_t count : {8, 300'000}) {
    const OpCase op_case = Sample(count);
    OneShot late = ShotOf(op_case);
    late.deadline = clock_.Now() - absl::Nanoseconds(1);
    EXPECT_EQ(Submit(std::move(late)).status().code(), absl::StatusCode::kDeadlineExceeded);
    OneShot gone = ShotOf(op_case);
    gone.cancelled = [] { return true; };
    EXPECT_EQ(Submit(std::move(gone)).status().code(), absl::StatusCode::kCancelled);
    OneShot both = ShotOf(op_case);
    both.deadline = clock_.Now() - absl::Nanoseconds(1);
    both.cancelled = [] { return true; };
    EXPECT_EQ(Submit(std::move(both)).status().code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST_F(EngineTest, ACallThatIsCancelledWhileItRunsStopsAtAChunk) {
  const OpCase op_case = Sample(1'000'000);  // 31 chunks
  std::atomic<int> asked = 0;
  OneShot shot = ShotOf(op_case);
  shot.cancelled = [&asked] { return ++asked > 4; };
  EXPECT_EQ(Submit(std::move(shot)).status().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(asked, 10);
  EXPECT_EQ(used_bytes(), 0);
  EXPECT_EQ(engine_->statistics().cancelled_calls, 1);
}

TEST_F(EngineTest, ADeadlineStopsACallThatRuns) {
  const OpCase op_case = Sample(1'000'000);
  std::atomic<int> asked = 0;
  OneShot shot = ShotOf(op_case);
  shot.deadline = clock_.Now() + absl::Seconds(1);
  shot.cancelled = [&] {
    if (++asked == 4) clock_.Advance(absl::Seconds(2));
    return false;
  };
  EXPECT_EQ(Submit(std::move(shot)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(asked, 10);
  EXPECT_EQ(engine_->statistics().expired_calls, 1);
}

TEST_F(EngineTest, StatisticsCountWhatRan) {
  const OpCase tiny = Sample(8);
  const OpCase large = Sample(300'000);
  ASSERT_THAT(Submit(ShotOf(tiny)), testing::IsOk());
  ASSERT_THAT(Submit(ShotOf(large)), testing::IsOk());
  OneShot bad = ShotOf(tiny);
  Plan plan = *bad.plan;
  plan.storages[1] = -1;
  bad.plan = std::move(plan);
  ASSERT_FALSE(Submit(std::move(bad)).ok());
  const EngineStatistics statistics = engine_->statistics();
  EXPECT_EQ(statistics.inline_calls, 2);
  EXPECT_EQ(statistics.queued_calls, 1);
  EXPECT_EQ(statistics.failed_calls, 1);
  ASSERT_EQ(statistics.operators.size(), 1u);
  const OperatorStatistics& op = statistics.operators[0];
  EXPECT_EQ(op.ended[static_cast<size_t>(absl::StatusCode::kOk)], 2);
  EXPECT_EQ(op.ended[static_cast<size_t>(absl::StatusCode::kInvalidArgument)], 1);
  // The clock stands still.
  EXPECT_EQ(op.executed[0], 3);
  EXPECT_EQ(op.queued[0], 1);
  EXPECT_EQ(statistics.output_bytes, (8 + 300'000) * 4);
  EXPECT_EQ(statistics.calls_in_flight, 0);
  EXPECT_EQ(statistics.bytes_in_flight, 0);
}

// Else the mean wait of those that do would be less than it is.
TEST_F(EngineTest, OnlyCallsThatWaitForAWorkerAreQueued) {
  const OpCase large = Sample(300'000);
  OneShot here = ShotOf(large);
  absl::Status ended = absl::UnknownError("not called");
  here.done = [&ended](const absl::StatusOr<Outputs>& outputs) { ended = outputs.status(); };
  engine_->RunHere(std::move(here));
  EXPECT_THAT(ended, testing::IsOk());
  EXPECT_EQ(engine_->statistics().inline_calls, 1);
  EXPECT_EQ(engine_->statistics().queued_calls, 0);
  ASSERT_THAT(Submit(ShotOf(large)), testing::IsOk());
  EXPECT_EQ(engine_->statistics().inline_calls, 1);
  EXPECT_EQ(engine_->statistics().queued_calls, 1);
}

TEST_F(EngineTest, CallsAreCountedByOperator) {
  const OpCase tiny = Sample(8);
  const OpCase large = Sample(300'000);
  for (const OpCase* gradient : {&tiny, &large, &tiny}) Submit(ShotOf(*gradient)).IgnoreError();
  const OpCase loss = CallOf("L1Loss", {Floats({1, 2}), Floats({3, 5})}, {int64_t{0}});
  OneShot bad = ShotOf(loss);
  bad.storages.pop_back();
  EXPECT_FALSE(Submit(std::move(bad)).ok());
  OneShot gone = ShotOf(loss);
  gone.cancelled = [] { return true; };
  EXPECT_FALSE(Submit(std::move(gone)).ok());
  OneShot slow = ShotOf(loss);
  slow.cancelled = [this] {
    clock_.Advance(absl::Seconds(2));
    return false;
  };
  EXPECT_THAT(Submit(std::move(slow)), testing::IsOk());

  const EngineStatistics all = engine_->statistics();
  ASSERT_EQ(all.operators.size(), 2u);
  const OperatorStatistics& losses = all.operators[0];
  const OperatorStatistics& gradients = all.operators[1];
  EXPECT_EQ(losses.op, "L1Loss");
  EXPECT_EQ(losses.calls, 3);
  EXPECT_EQ(losses.failed_calls, 1);
  EXPECT_EQ(losses.input_bytes, 8 + 16 + 16);
  EXPECT_EQ(losses.output_bytes, 8);
  EXPECT_GE(losses.execution, absl::Seconds(2));
  EXPECT_EQ(gradients.op, "L1LossBackward");
  EXPECT_EQ(gradients.calls, 3);
  EXPECT_EQ(gradients.failed_calls, 0);
  EXPECT_EQ(gradients.output_bytes, 4 * (2 * 8 + 300'000));
  EXPECT_EQ(gradients.execution, absl::ZeroDuration());
  EXPECT_EQ(all.inline_calls + all.queued_calls, 6);
  EXPECT_EQ(all.failed_calls, 1);
  EXPECT_EQ(all.cancelled_calls, 1);
  EXPECT_EQ(all.input_bytes, losses.input_bytes + gradients.input_bytes);
  EXPECT_EQ(all.output_bytes, losses.output_bytes + gradients.output_bytes);
  EXPECT_EQ(all.execution, losses.execution + gradients.execution);
}

TEST_F(EngineTest, APlanIsForOneOfTheDevices) {
  const OpCase op_case = Sample(8);
  NamedCall call = ToNamedCall(op_case);
  call.device = "cpu:0";
  EXPECT_THAT(engine_->MakePlan(call), testing::IsOk());
  call.device = "npu:7";
  const absl::Status status = engine_->MakePlan(call).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  ExpectError(status, ErrorReason::kDeviceNotFound, "device");
}

TEST_F(EngineTest, PlanningAHugeCallIsPureAndQuick) {
  NamedCall call;
  call.op = *FindOperator("L1Loss");
  for (const char* name : {"self", "target"}) {
    call.inputs.push_back({name, TensorDesc::Dense(DType::kFloat32, Dims{int64_t{1} << 58}), -1});
  }
  const absl::StatusOr<Plan> plan = engine_->MakePlan(call);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_GT(plan->workspace_bytes, 0u);
}

// A call of `elements` elements, of which the client sent one.
NamedCall RepeatedSum(int64_t elements) {
  TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{elements});
  desc.strides = {0};
  NamedCall call;
  call.op = *FindOperator("L1Loss");
  call.inputs = {{"self", desc}, {"target", desc}};
  call.attributes = {{"reduction", int64_t{2}}};
  return call;
}

TEST(MaxCallTimeTest, LongerCallsAreNotPlanned) {
  EngineOptions options;
  options.calls.max_time = absl::Seconds(60);
  const std::unique_ptr<Engine> engine = *Engine::Create(options);
  EXPECT_THAT(engine->MakePlan(RepeatedSum(int64_t{1} << 30)), testing::IsOk());
  const absl::Status status = engine->MakePlan(RepeatedSum(int64_t{1} << 45)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  ExpectError(status, ErrorReason::kResourceLimit, "max_call_time");
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  EXPECT_EQ(detail->op, "L1Loss");
  EXPECT_EQ(detail->want, "a call that takes at most 1m by estimate");
  EXPECT_NE(detail->got.find("h"), std::string::npos) << detail->got;
  // Another try would end no better.
  EXPECT_FALSE(detail->retry_after.has_value());
}

TEST(MaxCallTimeTest, ThereIsNoneUnlessItIsSaid) {
  const std::unique_ptr<Engine> engine = *Engine::Create(EngineOptions());
  EXPECT_THAT(engine->MakePlan(RepeatedSum(int64_t{1} << 55)), testing::IsOk());
}

TEST(EngineCreateTest, RefusesWhatCannotWork) {
  EngineOptions options;
  options.devices.clear();
  EXPECT_FALSE(Engine::Create(options).ok());
  options = EngineOptions();
  options.memory_limit_bytes = 0;
  EXPECT_FALSE(Engine::Create(options).ok());
  options = EngineOptions();
  options.calls.max_time = absl::ZeroDuration();
  EXPECT_FALSE(Engine::Create(options).ok());
}

}  // namespace
}  // namespace opserve
