// A call that has nothing to make runs no kernel, on whatever way it comes.
#include <sys/mman.h>

#include <vector>

#include "tests/core/executor_calls.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;

constexpr int64_t kBatch = 2, kChannels = 4, kArea = 9, kGroups = 2;

OpCase NormGradient(const std::vector<bool>& mask, int64_t area = kArea) {
  const TestTensor data = TestTensor::Full(DType::kFloat32, {kBatch, kChannels, area}, 1);
  const TestTensor statistics = TestTensor::Full(DType::kFloat32, {kBatch, kGroups}, 1);
  return CallOf("GroupNormBackward", {data, data, statistics, statistics, std::nullopt},
                {kBatch, kChannels, area, kGroups, mask});
}

// None of its outputs is wanted; none that is wanted has elements.
std::vector<OpCase> CallsOfNothing() {
  const TestTensor empty = TestTensor::Of(DType::kFloat32, {0, 3}, {});
  const std::vector<int64_t> nobody;
  return {NormGradient({false, false, false}), NormGradient({true, false, false}, 0),
          CallOf("L1LossBackward", {empty, empty, empty}, {int64_t{1}}),
          CallOf("Hardshrink", {empty}, {0.5}),
          CallOf("CtcLoss",
                 {TestTensor::Of(DType::kFloat32, {5, 0, 3}, {}),
                  TestTensor::Of(DType::kInt64, {0, 2}, {})},
                 {nobody, nobody, int64_t{0}, false})};
}

class NothingWantedTest : public ExecutorFixture {};

TEST_F(NothingWantedTest, ThePlanTakesNothing) {
  for (const OpCase& op_case : CallsOfNothing()) {
    SCOPED_TRACE(op_case.op->name);
    const absl::StatusOr<Plan> plan = manual_.engine->MakePlan(ToNamedCall(op_case));
    ASSERT_THAT(plan, IsOk());
    EXPECT_TRUE(plan->call.makes_nothing());
    EXPECT_EQ(plan->workspace_bytes, 0u);
    EXPECT_EQ(plan->control_bytes, 0u);
    EXPECT_EQ(plan->cost.bytes, 0);
    EXPECT_EQ(plan->cost.operations, 0);
    EXPECT_LT(plan->cost.time, absl::Microseconds(1));
  }
}

TEST_F(NothingWantedTest, OneShotCallsBringNothingToTheDevice) {
  for (const OpCase& op_case : CallsOfNothing()) {
    SCOPED_TRACE(op_case.op->name);
    const auto outputs = testing::Run(*manual_.engine, op_case);
    ASSERT_THAT(outputs, IsOk());
    for (const TestTensor& output : *outputs) EXPECT_EQ(output.count(), 0);
  }
  EXPECT_EQ(manual_.device->begun(Work::kKernel), 0);
  EXPECT_EQ(manual_.device->begun(Work::kUpload), 0);
  EXPECT_EQ(manual_.device->begun(Work::kDownload), 0);
}

TEST_F(NothingWantedTest, ExecutionsRunNoKernel) {
  for (const OpCase& op_case : CallsOfNothing()) {
    SCOPED_TRACE(op_case.op->name);
    BufferCall call(op_case.op->name);
    call.named() = ToNamedCall(op_case);
    call.named().inputs.clear();
    for (size_t i = 0; i < op_case.inputs.size(); ++i) {
      if (!op_case.inputs[i].has_value()) continue;
      const TestTensor& input = *op_case.inputs[i];
      call.Input(op_case.op->inputs[i].name, input.desc(),
                 Allocate(static_cast<int64_t>(input.bytes().size())));
    }
    const auto executor = Create(call);
    ASSERT_THAT(executor, IsOk());
    EXPECT_EQ(Execute(**executor).size(), op_case.op->outputs.size());
  }
  EXPECT_EQ(manual_.device->begun(Work::kKernel), 0);
}

TEST_F(NothingWantedTest, RepeatedInputsAreCountedByTheirMemory) {
  constexpr int64_t kHuge = int64_t{1} << 57;
  const auto repeated = [](const Dims& shape) {
    TensorDesc desc = TensorDesc::Dense(DType::kFloat32, shape);
    desc.strides.assign(shape.size(), 0);
    return desc;
  };
  BufferCall call("GroupNormBackward");
  for (const char* name : {"grad_out", "input"})
    call.Input(name, repeated({1, 2, kHuge}), Allocate(4));
  for (const char* name : {"mean", "rstd"}) call.Input(name, repeated({1, 1}), Allocate(4));
  call.Attribute("N", int64_t{1}).Attribute("C", int64_t{2}).Attribute("HxW", kHuge);
  call.Attribute("group", int64_t{1}).Attribute("output_mask", std::vector<bool>(3, false));
  const auto executor = Create(call, Executor::Use::kRepeatable);
  ASSERT_THAT(executor, IsOk());
  for (int i = 0; i < 5; ++i) Execute(**executor);
  EXPECT_EQ(manual_.engine->statistics().input_bytes, 5 * 4 * 4);
}

// Inputs in memory that nobody may read: a kernel would fault.
TEST(NothingWantedOnTheHostTest, ASeriesRunsNoKernel) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const OpCase op_case = NormGradient({false, false, false});
  const absl::StatusOr<Plan> plan = engine->MakePlan(ToNamedCall(op_case));
  ASSERT_THAT(plan, IsOk());
  ASSERT_TRUE(RunsInline(*plan));
  constexpr size_t kPage = 4096;
  void* page = ::mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::vector<Fragments> storages;
  for (const auto& input : op_case.inputs) {
    const size_t bytes = input.has_value() ? input->bytes().size() : 0;
    storages.emplace_back(std::span(static_cast<const std::byte*>(page), bytes));
  }
  const std::vector<uint32_t> indices = {0, 1, 2, 3, 4};
  std::vector<CallSeries::Call> calls(2);
  for (CallSeries::Call& call : calls) call.storages = indices;
  const auto outputs = engine->RunSeries({.plan = &*plan, .storages = storages, .calls = calls});
  ASSERT_THAT(outputs, IsOk());
  for (const CallSeries::Call& call : calls) EXPECT_THAT(call.status, IsOk());
  ::munmap(page, kPage);
}

TEST(NothingWantedOnTheHostTest, WhatIsOwedIsStillMade) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const auto gradients = testing::Run(*engine, NormGradient({true, true, true}, 0));
  ASSERT_THAT(gradients, IsOk());
  EXPECT_EQ((*gradients)[0].count(), 0);
  EXPECT_EQ((*gradients)[1].Values(), std::vector<double>(kChannels, 0));
  EXPECT_EQ((*gradients)[2].Values(), std::vector<double>(kChannels, 0));
  const TestTensor empty = TestTensor::Of(DType::kFloat32, {0}, {});
  EXPECT_EQ(*FirstOutput(CallOf("L1Loss", {empty, empty}, {int64_t{2}})), std::vector<double>{0});
}

}  // namespace
}  // namespace opserve::testing
