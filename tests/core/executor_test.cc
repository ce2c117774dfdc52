// The two phases apart, on a device whose memory the host cannot follow.
#include "core/engine/executor.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "core/op/op_table.h"
#include "tests/core/executor_calls.h"
#include "tests/support/calls.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;
using Use = Executor::Use;

class ExecutorTest : public ExecutorFixture {};

TEST_F(ExecutorTest, MakesTheOutputsThatAreNotGiven) {
  BufferCall call = SmallCall(5);
  const auto executor = *Create(call);
  const std::vector<ExecutedOutput> outputs = Execute(*executor);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "grad_input");
  EXPECT_TRUE(outputs[0].wanted && outputs[0].made);
  EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(), std::vector<double>(5, 3.0));
}

TEST_F(ExecutorTest, WritesWhereItIsTold) {
  const int64_t before = budget_->stats().used_bytes;
  BufferCall call = SmallCall(5);
  StorageView target = Uploaded(std::vector<std::byte>(64, std::byte{0x5A}));
  target.offset_bytes = 4;
  // Every third float from the third on.
  TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{5});
  desc.strides = {3};
  desc.storage_offset = 2;
  call.Output("grad_input", desc, target);
  const auto executor = *Create(call);
  const std::vector<ExecutedOutput> outputs = Execute(*executor);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_FALSE(outputs[0].made);
  EXPECT_EQ(outputs[0].storage.buffer, target.buffer);
  EXPECT_EQ(outputs[0].storage.offset_bytes, 4);
  EXPECT_EQ(Downloaded(desc, target).Values(), std::vector<double>(5, 3.0));
  target.offset_bytes = 0;
  const std::vector<std::byte> bytes = Bytes(target);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool element = i >= 12 && (i - 12) % 12 < 4 && i < 12 + 5 * 12;
    if (!element) {
      EXPECT_EQ(bytes[i], std::byte{0x5A}) << i;
    }
  }
  EXPECT_GT(budget_->stats().used_bytes, before);
}

TEST_F(ExecutorTest, AnOutputThatIsNotGivenIsMadeWhateverStorageItNames) {
  BufferCall call = SmallCall(5);
  StorageView other = Uploaded(std::vector<std::byte>(64, std::byte{0x5A}));
  other.offset_bytes = 4;
  call.Output("grad_input", TensorDesc::Dense(DType::kFloat32, Dims{5}), other);
  call.named().outputs.back().given.reset();
  const auto executor = *Create(call);
  const std::vector<ExecutedOutput> outputs = Execute(*executor);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].made);
  EXPECT_EQ(outputs[0].storage.offset_bytes, 0);
  EXPECT_NE(outputs[0].storage.buffer, other.buffer);
  EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(), std::vector<double>(5, 3.0));
  EXPECT_EQ(Bytes(other), std::vector<std::byte>(60, std::byte{0x5A}));
}

TEST_F(ExecutorTest, ExecutionsAreCounted) {
  BufferCall call = SmallCall(5);
  const auto executor = *Create(call, Use::kRepeatable);
  for (int i = 0; i < 3; ++i) Execute(*executor);
  manual_.device->FailNext(Work::kKernel);
  EXPECT_FALSE(RunOn(*stream_, *executor->Begin(stream_, {})).first.ok());
  const EngineStatistics counted = manual_.engine->statistics();
  // None of them waited for a worker by itself.
  EXPECT_EQ(counted.inline_calls, 4);
  EXPECT_EQ(counted.queued_calls, 0);
  ASSERT_EQ(counted.operators.size(), 1u);
  EXPECT_EQ(counted.operators[0].op, "L1LossBackward");
  EXPECT_EQ(counted.operators[0].calls, 4);
  EXPECT_EQ(counted.operators[0].failed_calls, 1);
  EXPECT_EQ(counted.operators[0].input_bytes, 4 * 3 * 20);
  EXPECT_EQ(counted.operators[0].output_bytes, 3 * 20);
}

// Every operator, inputs and outputs scattered in buffers, gives the bits of the one-shot call.
class ExecutorOfTest : public ExecutorFixture,
                       public ::testing::WithParamInterface<const Operator*> {
 protected:
  // The case with its inputs in buffers and, where `given`, its outputs too.
  absl::StatusOr<std::shared_ptr<Executor>> CreateFor(const OpCase& op_case, const OpCall& planned,
                                                      bool given) {
    BufferCall call(op_case.op->name);
    call.named() = ToNamedCall(op_case);
    call.named().inputs.clear();
    if (given) call.named().outputs.clear();
    for (size_t i = 0; i < op_case.inputs.size(); ++i) {
      if (!op_case.inputs[i].has_value()) continue;
      call.Input(op_case.op->inputs[i].name, op_case.inputs[i]->desc(),
                 Uploaded(*op_case.inputs[i]));
    }
    for (size_t i = 0; i < planned.outputs.size() && given; ++i) {
      const TensorDesc desc = TestTensor(planned.outputs[i].desc).Scattered(2).desc();
      call.Output(op_case.op->outputs[i].name, desc, Allocate(desc.reach_bytes()));
    }
    return Create(call);
  }
};

TEST_P(ExecutorOfTest, GivesTheBitsOfAOneShotCall) {
  const std::unique_ptr<Engine> host = MakeEngine(2);
  const std::vector<OpCase> cases = CasesOf(*GetParam());
  for (size_t n = 0; n < cases.size(); n += 3) {
    SCOPED_TRACE(cases[n].label);
    const OpCall planned = *PlanCase(cases[n]);
    const auto want = testing::Run(*host, cases[n]);
    ASSERT_THAT(want, IsOk());
    for (const bool given : {false, true}) {
      const auto executor = CreateFor(cases[n], planned, given);
      ASSERT_THAT(executor, IsOk());
      const std::vector<ExecutedOutput> outputs = Execute(**executor);
      ASSERT_EQ(outputs.size(), want->size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].wanted) {
          // Masked out, or nothing to write.
          EXPECT_EQ((*want)[i].count(), 0);
          continue;
        }
        TestTensor got = Downloaded(outputs[i].desc, outputs[i].storage);
        if (given) got = got.WithLayout((*want)[i].desc().strides, 0);
        ASSERT_TRUE(SameBits(got, (*want)[i])) << "output " << i << (given ? " given" : "");
      }
    }
  }
  EXPECT_EQ(budget_->stats().used_bytes, 0);
  EXPECT_EQ(manual_.device->memory().stats().used_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Operators, ExecutorOfTest, ::testing::ValuesIn(AllOperators()),
                         [](const auto& op) { return std::string(op.param->name); });

class GroupNormOnDeviceTest : public ExecutorFixture {
 protected:
  static constexpr int64_t kN = 2, kC = 6, kHxW = 5, kGroup = 3;

  GroupNormOnDeviceTest() {
    Rng rng = MakeRng(51);
    x_ = TestTensor::Random(DType::kFloat32, {kN, kC, kHxW}, rng);
    dy_ = TestTensor::Random(DType::kFloat32, {kN, kC, kHxW}, rng);
  }

  static BufferCall& WithSizes(BufferCall& call) {
    return call.Attribute("N", kN)
        .Attribute("C", kC)
        .Attribute("HxW", kHxW)
        .Attribute("group", kGroup);
  }
  static OpCase WithSizes(std::string_view op, std::vector<std::optional<TestTensor>> inputs,
                          AttributeValue last) {
    return CallOf(op, std::move(inputs), {kN, kC, kHxW, kGroup, std::move(last)});
  }

  TestTensor x_ = TestTensor(TensorDesc::Dense(DType::kFloat32, Dims{0}));
  TestTensor dy_ = x_;
};

// GroupNorm and its gradient: what is between them stays on the device.
TEST_F(GroupNormOnDeviceTest, ForwardThenBackward) {
  const StorageView x = Uploaded(x_);
  const TensorDesc statistics = TensorDesc::Dense(DType::kFloat32, Dims{kN, kGroup});
  const StorageView mean = Allocate(statistics.size_bytes());
  const StorageView rstd = Allocate(statistics.size_bytes());
  BufferCall forward("GroupNorm");
  WithSizes(forward.Input("self", x_.desc(), x)).Attribute("eps", 1e-5);
  forward.Output("mean", statistics, mean).Output("rstd", statistics, rstd);
  BufferCall backward("GroupNormBackward");
  backward.Input("grad_out", dy_.desc(), Uploaded(dy_)).Input("input", x_.desc(), x);
  WithSizes(backward.Input("mean", statistics, mean).Input("rstd", statistics, rstd))
      .Attribute("output_mask", std::vector<bool>{true, false, true});
  const int64_t downloads = manual_.device->begun(Work::kDownload);

  const auto first = Create(forward);
  const auto second = Create(backward);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(Execute(**first).size(), 3u);
  const StorageView workspace = Allocate(static_cast<int64_t>((*second)->plan().workspace_bytes));
  const std::vector<ExecutedOutput> got = Execute(**second, workspace);
  EXPECT_EQ(manual_.device->begun(Work::kDownload), downloads);

  const auto norm = *AllOutputs(WithSizes("GroupNorm", {x_, {}, {}}, 1e-5));
  const auto want = *AllOutputs(WithSizes("GroupNormBackward", {dy_, x_, norm[1], norm[2], {}},
                                          std::vector<bool>{true, false, true}));
  ASSERT_EQ(got.size(), 3u);
  for (const size_t i : {0, 2})
    EXPECT_TRUE(SameBits(Downloaded(got[i].desc, got[i].storage), want[i])) << i;
  EXPECT_FALSE(got[1].wanted);
  EXPECT_EQ(got[1].storage.buffer, nullptr);
}

TEST_F(ExecutorTest, ARepeatableOneRunsAgainAndOnOtherTensors) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  for (int i = 0; i < 3; ++i) {
    const auto outputs = Execute(*executor);
    EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(),
              std::vector<double>(4, 3.0));
  }
  const std::pair<std::string, StorageView> other[] = {
      {"grad_output", Uploaded(Floats({1, 2, 3, 4}))}};
  ASSERT_THAT(executor->SetTensors(other), IsOk());
  const auto outputs = Execute(*executor);
  EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(ExecutorTest, WhatWasBegunKeepsItsTensors) {
  BufferCall call = SmallCall(2);
  call.Output("grad_input", TensorDesc::Dense(DType::kFloat32, Dims{2}), Uploaded(Floats({0, 0})));
  const auto executor = *Create(call, Use::kRepeatable);
  absl::StatusOr<Execution> begun = executor->Begin(stream_, {});
  ASSERT_THAT(begun, IsOk());
  const StorageView target = Uploaded(Floats({7, 7}));
  const std::pair<std::string, StorageView> other[] = {{"grad_input", target},
                                                       {"self", Uploaded(Floats({0, 0}))}};
  ASSERT_THAT(executor->SetTensors(other), IsOk());
  const auto [status, outputs] = RunOn(*stream_, *std::move(begun));
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(), (std::vector<double>{3, 3}));
  EXPECT_EQ(Downloaded(outputs[0].desc, target).Values(), (std::vector<double>{7, 7}));
  Execute(*executor);
  EXPECT_EQ(Downloaded(outputs[0].desc, target).Values(), (std::vector<double>{-3, -3}));
}

TEST_F(ExecutorTest, MemoryLivesUntilTheWorkHasEnded) {
  BufferCall call = SmallCall(4);
  auto executor = *Create(call);
  manual_.device->Hold(Work::kKernel);
  absl::StatusOr<Execution> begun = executor->Begin(stream_, {});
  ASSERT_THAT(begun, IsOk());
  auto result = std::async(std::launch::async, [&] { return RunOn(*stream_, *std::move(begun)); });
  manual_.device->AwaitHeld(Work::kKernel);
  executor.reset();
  call = BufferCall("L1Loss");
  EXPECT_EQ(budget_->stats().used_bytes, 4 * 16);
  manual_.device->Release(Work::kKernel);
  auto [status, outputs] = result.get();
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(budget_->stats().used_bytes, 16);
  outputs.clear();
  EXPECT_EQ(budget_->stats().used_bytes, 0);
}

TEST_F(ExecutorTest, AnAbandonedStreamStopsTheKernel) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call);
  manual_.device->Hold(Work::kKernel);
  absl::StatusOr<Execution> begun = executor->Begin(stream_, {});
  ASSERT_THAT(begun, IsOk());
  auto result = std::async(std::launch::async, [&] { return RunOn(*stream_, *std::move(begun)); });
  manual_.device->AwaitHeld(Work::kKernel);
  stream_->Abandon();
  manual_.device->Release(Work::kKernel);
  EXPECT_EQ(result.get().first.code(), absl::StatusCode::kCancelled);
}

TEST_F(ExecutorTest, WhoNeedsItNoLongerStopsTheKernel) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  const int64_t kernels = manual_.device->begun(Work::kKernel);
  std::atomic<int> asked = 0;
  // Before it begins; then the kernel, for its first chunk.
  for (const int answers : {0, 1}) {
    asked = 0;
    absl::StatusOr<Execution> execution = executor->Begin(stream_, {});
    ASSERT_THAT(execution, IsOk());
    const absl::Status status = execution->Run([&] {
      return asked++ < answers ? absl::OkStatus()
                               : MakeError({.reason = ErrorReason::kDeadlineExceeded});
    });
    EXPECT_EQ(GetErrorDetail(status)->reason, ErrorReason::kDeadlineExceeded);
    EXPECT_EQ(GetErrorDetail(status)->op, "L1LossBackward");
    EXPECT_TRUE(execution->TakeOutputs().empty());
    EXPECT_EQ(manual_.device->begun(Work::kKernel), kernels + answers);
  }
}

TEST_F(ExecutorTest, WithoutItsContextItDoesNotRun) {
  BufferCall call = SmallCall(4);
  auto executor = *Create(call);
  absl::StatusOr<Execution> begun = executor->Begin(stream_, {});
  ASSERT_THAT(begun, IsOk());
  executor.reset();
  context_.reset();
  EXPECT_EQ(begun->Run().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(begun->TakeOutputs().empty());
}

TEST_F(ExecutorTest, ManyRunAtOnce) {
  constexpr int64_t kCount = 1000;
  BufferCall call = SmallCall(kCount);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto stream = context_->CreateStream(Stream::OnFailure::kStop);
      const auto executor = *Executor::Create(*manual_.engine, context_, call.named(),
                                              call.storages(), Use::kRepeatable);
      for (int i = 0; i < 25; ++i) {
        auto [status, outputs] = RunOn(*stream, *executor->Begin(stream, {}));
        ASSERT_THAT(status, IsOk());
        EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(),
                  std::vector<double>(kCount, 3.0));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// One executor, rebound by one thread while another runs it: each run sees one state or the other.
TEST_F(ExecutorTest, RebindingBesideRunningIsAllOrNothing) {
  BufferCall call = SmallCall(64);
  const auto executor = *Create(call, Use::kRepeatable);
  const StorageView zeros = Uploaded(TestTensor::Full(DType::kFloat32, {64}, 0));
  const StorageView threes = call.storages()[1];
  std::thread rebinding([&] {
    for (int i = 0; i < 200; ++i) {
      const StorageView& view = i % 2 == 0 ? zeros : threes;
      const std::pair<std::string, StorageView> both[] = {{"grad_output", view}, {"self", view}};
      EXPECT_THAT(executor->SetTensors(both), IsOk());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto outputs = Execute(*executor);
    const double value = Downloaded(outputs[0].desc, outputs[0].storage).At(63);
    // sign(3 - 1) · 3, or sign(0 - 1) · 0.
    EXPECT_TRUE(value == 3 || value == 0) << value;
  }
  rebinding.join();
}

}  // namespace
}  // namespace opserve::testing
