// Everything that an executor refuses.
#include <limits>
#include <optional>
#include <string>

#include "tests/core/executor_calls.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Work = ManualDevice::Work;
using Use = Executor::Use;

constexpr DType kF32 = DType::kFloat32;

TensorDesc FloatsOf(int64_t count) { return TensorDesc::Dense(kF32, Dims{count}); }

class ExecutorErrorsTest : public ExecutorFixture {
 protected:
  void ExpectRefused(BufferCall& call, int32_t code, std::string_view parameter) {
    ExpectError(Create(call).status(), code, parameter);
  }
  void ExpectInvalid(BufferCall& call, std::string_view parameter) {
    ExpectRefused(call, kParamInvalid, parameter);
  }

  // Hardshrink of `self` to `out`.
  static BufferCall Shrink(const TensorDesc& self, StorageView from, const TensorDesc& out,
                           StorageView to) {
    BufferCall call("Hardshrink");
    call.Input("self", self, std::move(from)).Attribute("lambd", 0.5);
    call.Output("out", out, std::move(to));
    return call;
  }

  // A call that needs a workspace of at least 64 bytes: a sum.
  BufferCall Sum(const StorageView& self) {
    BufferCall call("L1Loss");
    call.Input("self", FloatsOf(8), self).Input("target", FloatsOf(8), self);
    call.Attribute("reduction", int64_t{2});
    return call;
  }

  std::shared_ptr<Context> other_ = std::make_shared<Context>(*manual_.device, budget_, clock_);
};

TEST_F(ExecutorErrorsTest, PlansErrorsComeFirst) {
  BufferCall missing("Hardshrink");
  missing.Attribute("lambd", 0.5);
  ExpectRefused(missing, kParamNullptr, "self");
  BufferCall shape = SmallCall(4);
  shape.Output("grad_input", FloatsOf(5), Allocate(20));
  ExpectInvalid(shape, "grad_input");
}

TEST_F(ExecutorErrorsTest, TheDeviceIsTheContexts) {
  BufferCall call = SmallCall(4);
  call.named().device = "manual:0";
  EXPECT_THAT(Create(call), IsOk());
  call.named().device = "cpu:0";
  ExpectInvalid(call, "device");
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const Context elsewhere(*engine->devices()[0], budget_, clock_);
  call.named().device = {};
  ExpectError(
      Executor::Create(*engine, context_, call.named(), call.storages(), Use::kOnce).status(),
      ErrorReason::kDeviceNotFound, "device");
}

TEST_F(ExecutorErrorsTest, TensorsNeedStorages) {
  BufferCall call = SmallCall(4);
  call.named().inputs[1].storage = -1;
  ExpectRefused(call, kParamNullptr, "self");
  call.named().inputs[1].storage = 3;
  ExpectRefused(call, kParamNullptr, "self");
  BufferCall null = Shrink(FloatsOf(4), Allocate(16), FloatsOf(4), {});
  ExpectRefused(null, kParamNullptr, "out");
}

TEST_F(ExecutorErrorsTest, BuffersAreTheContexts) {
  const StorageView foreign{*other_->Allocate(16)};
  BufferCall input = Shrink(FloatsOf(4), foreign, FloatsOf(4), Allocate(16));
  ExpectInvalid(input, "self");
  BufferCall output = Shrink(FloatsOf(4), Allocate(16), FloatsOf(4), foreign);
  ExpectInvalid(output, "out");
}

TEST_F(ExecutorErrorsTest, ViewsLieInsideTheirBuffers) {
  const StorageView in = Allocate(64);
  const auto at = [](StorageView view, int64_t offset) {
    view.offset_bytes = offset;
    return view;
  };
  TensorDesc far = FloatsOf(4);
  far.storage_offset = 13;
  TensorDesc wide = FloatsOf(4);
  wide.strides = {6};
  for (const int64_t offset : {-4, 52, 65, 68}) {
    BufferCall call = Shrink(FloatsOf(4), at(in, offset), FloatsOf(4), Allocate(16));
    ExpectInvalid(call, "self");
  }
  BufferCall offset = Shrink(far, in, FloatsOf(4), Allocate(16));
  ExpectInvalid(offset, "self");
  BufferCall strided = Shrink(FloatsOf(4), in, wide, Allocate(64));
  ExpectInvalid(strided, "out");
  // May end before the buffer does.
  BufferCall fits = Shrink(FloatsOf(4), at(in, 44), wide, Allocate(77));
  EXPECT_THAT(Create(fits), IsOk());
  far.storage_offset = std::numeric_limits<int64_t>::max() / 4 - 4;
  BufferCall overflow = Shrink(far, at(in, 64), FloatsOf(4), Allocate(16));
  ExpectInvalid(overflow, "self");
}

TEST_F(ExecutorErrorsTest, ViewsAreAlignedToTheirElements) {
  StorageView odd = Allocate(64);
  odd.offset_bytes = 2;
  BufferCall call = Shrink(FloatsOf(4), odd, FloatsOf(4), Allocate(16));
  ExpectInvalid(call, "self");
  const TensorDesc halves = TensorDesc::Dense(DType::kFloat16, Dims{4});
  BufferCall fits = Shrink(halves, odd, halves, Allocate(16));
  EXPECT_THAT(Create(fits), IsOk());
}

TEST_F(ExecutorErrorsTest, OutputsOverlapNothing) {
  const StorageView memory = Allocate(128);
  StorageView later = memory;
  later.offset_bytes = 12;
  BufferCall input = Shrink(FloatsOf(4), memory, FloatsOf(4), later);
  ExpectInvalid(input, "out");
  later.offset_bytes = 16;
  BufferCall beside = Shrink(FloatsOf(4), memory, FloatsOf(4), later);
  EXPECT_THAT(Create(beside), IsOk());
  // Halves of the rows of one matrix.
  TensorDesc columns = TensorDesc::Dense(kF32, Dims{4, 2});
  columns.strides = {4, 1};
  TensorDesc others = columns;
  others.storage_offset = 2;
  BufferCall interleaved = Shrink(columns, memory, others, memory);
  EXPECT_THAT(Create(interleaved), IsOk());
  TensorDesc itself = TensorDesc::Dense(kF32, Dims{2, 2});
  itself.strides = {1, 1};
  BufferCall folded = Shrink(TensorDesc::Dense(kF32, Dims{2, 2}), Allocate(16), itself, memory);
  ExpectInvalid(folded, "out");
}

TEST_F(ExecutorErrorsTest, OutputsOverlapNoOutput) {
  const StorageView statistics = Allocate(64);
  const TensorDesc one = TensorDesc::Dense(kF32, Dims{1, 1});
  BufferCall call("GroupNorm");
  call.Input("self", TensorDesc::Dense(kF32, Dims{1, 1, 4}), Allocate(16));
  for (const auto& [name, value] : {std::pair{"N", 1}, {"C", 1}, {"HxW", 4}, {"group", 1}})
    call.Attribute(name, int64_t{value});
  call.Attribute("eps", 1e-5).Output("mean", one, statistics).Output("rstd", one, statistics);
  ExpectInvalid(call, "rstd");
}

TEST_F(ExecutorErrorsTest, SetTensorsIsAllOrNothing) {
  BufferCall once = SmallCall(4);
  const std::pair<std::string, StorageView> good = {"self", Allocate(16)};
  const auto consumed = *Create(once);
  ExpectError(consumed->SetTensors({&good, 1}), kParamInvalid, "executor");
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  const std::pair<std::string, StorageView> bad[] = {{"selv", Allocate(16)},
                                                     {"grad_input", Allocate(16)},
                                                     {"target", Allocate(12)},
                                                     {"self", Allocate(16)},
                                                     {"target", {*other_->Allocate(16)}}};
  for (const auto& other : bad) {
    const std::pair<std::string, StorageView> tensors[] = {good, other};
    ExpectError(executor->SetTensors(tensors), kParamInvalid, other.first);
  }
  const std::pair<std::string, StorageView> null[] = {good, {"target", {}}};
  ExpectError(executor->SetTensors(null), kParamNullptr, "target");
  const auto outputs = Execute(*executor);
  EXPECT_EQ(Downloaded(outputs[0].desc, outputs[0].storage).Values(), std::vector<double>(4, 3.0));
}

TEST_F(ExecutorErrorsTest, SetTensorsChecksForOverlaps) {
  const StorageView memory = Allocate(16);
  BufferCall call = Shrink(FloatsOf(4), Allocate(16), FloatsOf(4), Allocate(16));
  const auto executor = *Create(call, Use::kRepeatable);
  const std::pair<std::string, StorageView> both[] = {{"self", memory}, {"out", memory}};
  ExpectError(executor->SetTensors(both), kParamInvalid, "out");
  EXPECT_THAT(executor->SetTensors({both, 1}), IsOk());
  ExpectError(executor->SetTensors({both + 1, 1}), kParamInvalid, "out");
}

TEST_F(ExecutorErrorsTest, AnExecutorIsConsumedWhateverBecomesOfIt) {
  BufferCall call = SmallCall(4);
  auto executor = *Create(call);
  Execute(*executor);
  ExpectError(executor->Begin(stream_, {}).status(), kParamInvalid, "executor");
  BufferCall sum = Sum(Allocate(32));
  executor = *Create(sum);
  ExpectError(executor->Begin(stream_, StorageView()).status(), kParamNullptr, "workspace");
  ExpectError(executor->Begin(stream_, {}).status(), kParamInvalid, "executor");
}

TEST_F(ExecutorErrorsTest, StreamsAreTheContexts) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  const auto foreign = other_->CreateStream(Stream::OnFailure::kStop);
  ExpectError(executor->Begin(foreign, {}).status(), kParamInvalid, "executor");
  ExpectError(executor->Begin(nullptr, {}).status(), kParamNullptr, "stream");
  ASSERT_THAT(context_->DestroyStream(stream_), IsOk());
  ExpectError(executor->Begin(stream_, {}).status(), kParamInvalid, "executor");
}

TEST_F(ExecutorErrorsTest, ARepeatableOneIsOnOneStreamAtATime) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  const auto other = context_->CreateStream(Stream::OnFailure::kStop);
  auto first = executor->Begin(stream_, {});
  auto second = executor->Begin(stream_, {});
  ASSERT_TRUE(first.ok() && second.ok());
  ExpectError(executor->Begin(other, {}).status(), kParamInvalid, "executor");
  EXPECT_THAT(RunOn(*stream_, *std::move(first)).first, IsOk());
  ExpectError(executor->Begin(other, {}).status(), kParamInvalid, "executor");
  // Dropped without having run.
  second = absl::CancelledError();
  EXPECT_THAT(executor->Begin(other, {}), IsOk());
}

TEST_F(ExecutorErrorsTest, WorkspacesAreChecked) {
  const StorageView tensors = Uploaded(std::vector<std::byte>(256));
  BufferCall call = Sum(tensors);
  const auto executor = *Create(call, Use::kRepeatable);
  const auto bytes = static_cast<int64_t>(executor->plan().workspace_bytes);
  ASSERT_GT(bytes, 0);
  const auto refuse = [&](StorageView view, int64_t offset, int32_t code) {
    view.offset_bytes = offset;
    const absl::Status status = executor->Begin(stream_, view).status();
    ExpectError(status, code, "workspace");
    return GetErrorDetail(status);
  };
  refuse({}, 0, kParamNullptr);
  const std::optional<ErrorDetail> small = refuse(Allocate(bytes - 1), 0, kParamInvalid);
  EXPECT_EQ(small->want, ">= " + std::to_string(bytes) + " bytes");
  EXPECT_EQ(small->got, std::to_string(bytes - 1));
  refuse(Allocate(bytes + 64), 8, kParamInvalid);
  refuse(Allocate(bytes), -64, kParamInvalid);
  refuse(Allocate(bytes), 4096, kParamInvalid);
  refuse({*other_->Allocate(bytes)}, 0, kParamInvalid);
  refuse(tensors, 0, kParamInvalid);
  StorageView beside = tensors;
  beside.offset_bytes = 64;
  EXPECT_EQ(Execute(*executor, beside).size(), 1u);
  EXPECT_EQ(Execute(*executor).size(), 1u);
}

TEST_F(ExecutorErrorsTest, WorkspacesOverlapNoGivenOutput) {
  const StorageView memory = Allocate(256);
  BufferCall call = Sum(Uploaded(std::vector<std::byte>(32)));
  call.Output("out", TensorDesc::Dense(kF32, Dims{}), memory);
  const auto executor = *Create(call, Use::kRepeatable);
  ASSERT_GT(executor->plan().workspace_bytes, 0u);
  ExpectError(executor->Begin(stream_, memory).status(), kParamInvalid, "workspace");
  StorageView beside = memory;
  beside.offset_bytes = 64;
  EXPECT_THAT(executor->Begin(stream_, beside), IsOk());
}

TEST_F(ExecutorErrorsTest, TheBudgetBoundsWhatAnExecutionMakes) {
  constexpr int64_t kCount = kBudgetBytes / 4 / 4 - 100;
  BufferCall call = SmallCall(kCount);
  const auto executor = *Create(call, Use::kRepeatable);
  const auto most = *context_->Allocate(kBudgetBytes / 4);
  const auto [status, outputs] = RunOn(*stream_, *executor->Begin(stream_, {}));
  ExpectError(status, ErrorReason::kResourceLimit, "grad_input");
  EXPECT_TRUE(outputs.empty());
}

TEST_F(ExecutorErrorsTest, WhatTheDataOrTheDeviceSaysEndsTheRun) {
  BufferCall call = SmallCall(4);
  const auto executor = *Create(call, Use::kRepeatable);
  const int64_t before = budget_->stats().used_bytes;
  manual_.device->FailNext(Work::kKernel);
  const auto [status, outputs] = RunOn(*stream_, *executor->Begin(stream_, {}));
  ExpectError(status, ErrorReason::kDeviceError, "device");
  EXPECT_TRUE(outputs.empty());
  EXPECT_EQ(budget_->stats().used_bytes, before);
  EXPECT_EQ(Execute(*executor).size(), 1u);
}

TEST_F(ExecutorErrorsTest, AOneShotCallHasNoOutputsOfTheCallers) {
  BufferCall call = Shrink(FloatsOf(4), {}, FloatsOf(4), {});
  OneShot shot;
  shot.plan = *manual_.engine->MakePlan(call.named());
  const TestTensor self = Floats({1, 2, 3, 4});
  shot.storages = {Fragments(std::span(self.bytes()))};
  absl::Status status;
  shot.done = [&](const absl::StatusOr<Outputs>& outputs) { status = outputs.status(); };
  manual_.engine->Submit(std::move(shot));
  ExpectError(status, kParamInvalid, "out");
}

}  // namespace
}  // namespace opserve::testing
