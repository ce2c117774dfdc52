// What the NPU gives is what the CPU device gives, in whatever way it is asked.
#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "core/engine/executor.h"
#include "core/engine/run/piecewise.h"
#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "tests/ascend/ascend_fixture.h"
#include "tests/support/calls.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::ElementsAre;

class AscendOperatorTest : public AscendFixture,
                           public ::testing::WithParamInterface<const Operator*> {};

void ExpectSame(const absl::StatusOr<std::vector<TestTensor>>& got,
                const absl::StatusOr<std::vector<TestTensor>>& want) {
  ASSERT_THAT(want, IsOk());
  ASSERT_THAT(got, IsOk());
  ASSERT_EQ(got->size(), want->size());
  for (size_t i = 0; i < want->size(); ++i)
    EXPECT_TRUE(SameBits((*got)[i], (*want)[i])) << "output " << i;
}

TEST_P(AscendOperatorTest, OneShotCallsGiveTheBitsOfTheCpu) {
  ASSERT_NE(device().FindKernel(*GetParam()), nullptr);
  const std::unique_ptr<Engine> host = MakeEngine(2);
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    ExpectSame(testing::Run(*engine_, op_case), testing::Run(*host, op_case));
    const OpCase scattered = Scattered(op_case);
    ExpectSame(testing::Run(*engine_, scattered), testing::Run(*host, scattered));
  }
  EXPECT_EQ(device().memory().stats().used_bytes, 0);
  EXPECT_EQ(device().host_memory().stats().used_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Operators, AscendOperatorTest, ::testing::ValuesIn(AllOperators()),
                         [](const auto& op) { return std::string(op.param->name); });

// L1LossBackward on tensors of a context.
class AscendExecutorTest : public AscendFixture {
 protected:
  void SetUp() override {
    AscendFixture::SetUp();
    if (HasFatalFailure()) return;
    context_ = std::make_shared<Context>(device(), std::make_shared<MemoryBudget>(int64_t{8} << 20),
                                         Clock::Real());
  }

  static MemoryRange All(const StorageView& view) {
    return {view.buffer->data(), view.buffer->size_bytes()};
  }
  StorageView Uploaded(const TestTensor& tensor) {
    StorageView view{*context_->Allocate(static_cast<int64_t>(tensor.bytes().size()))};
    EXPECT_THAT(device().Upload(All(view), Fragments(tensor.bytes())), IsOk());
    return view;
  }
  TestTensor Downloaded(const StorageView& view, const TensorDesc& desc) {
    TestTensor tensor(desc);
    EXPECT_THAT(device().Download(All(view), 0, {tensor.data(), tensor.bytes().size()}), IsOk());
    return tensor;
  }

  // `self` against ones, its gradient written to `out`.
  std::shared_ptr<Executor> Gradient(const TestTensor& self, const TensorDesc& out,
                                     const StorageView& target) {
    NamedCall call;
    call.op = *FindOperator("L1LossBackward");
    const TestTensor ones = TestTensor::Full(DType::kFloat32, self.desc().shape, 1);
    call.inputs = {{"grad_output", ones.desc(), 0}, {"self", self.desc(), 1}};
    call.inputs.push_back({"target", ones.desc(), 0});
    call.attributes = {{"reduction", int64_t{0}}};
    NamedOutput output{.name = "grad_input"};
    output.given = out;
    output.storage = 2;
    call.outputs.push_back(output);
    return *Executor::Create(*engine_, context_, call, {Uploaded(ones), Uploaded(self), target},
                             Executor::Use::kRepeatable);
  }

  static absl::Status RunOn(Stream& stream, Execution execution) {
    Signal ended;
    absl::Status result;
    stream.Enqueue({.id = 1,
                    .run = [execution = std::move(execution)]() mutable { return execution.Run(); },
                    .done =
                        [&](absl::Status status) {
                          result = std::move(status);
                          ended.Notify();
                        }});
    ended.Wait();
    return result;
  }

  std::shared_ptr<Context> context_;
};

TEST_F(AscendExecutorTest, WritesViewsAndNothingBetween) {
  const TestTensor self = TestTensor::Of(DType::kFloat32, {2, 3}, {0, 1, 2, 3, 0, 1});
  const TestTensor before = TestTensor(self.desc()).Scattered(3);
  const StorageView target = Uploaded(before);
  const auto executor = Gradient(self, before.desc(), target);
  const auto stream = context_->CreateStream(Stream::OnFailure::kStop);
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = RunOn(*stream, *executor->Begin(stream, std::nullopt));
    ASSERT_THAT(status, IsOk());
  }
  const TestTensor after = Downloaded(target, before.desc());
  EXPECT_THAT(after.Values(), ElementsAre(-1, 0, 1, 1, -1, 0));
  size_t changed = 0;
  for (size_t at = 0; at < before.bytes().size(); ++at)
    changed += after.bytes()[at] != before.bytes()[at] ? 1 : 0;
  EXPECT_LE(changed, self.bytes().size());
}

TEST_F(AscendExecutorTest, StreamsRunSideBySide) {
  constexpr int kStreams = 4;
  std::vector<std::thread> threads;
  threads.reserve(kStreams);
  for (int n = 0; n < kStreams; ++n) {
    threads.emplace_back([this, n] {
      const TestTensor self = TestTensor::Full(DType::kFloat32, {1000}, n);
      const StorageView target = Uploaded(self);
      const auto executor = Gradient(self, self.desc(), target);
      const auto stream = context_->CreateStream(Stream::OnFailure::kStop);
      for (int i = 0; i < 20; ++i)
        ASSERT_THAT(RunOn(*stream, *executor->Begin(stream, std::nullopt)), IsOk());
      const double want = n < 1 ? -1 : std::min(n - 1, 1);
      EXPECT_EQ(Downloaded(target, self.desc()).Values(), std::vector<double>(1000, want));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class AscendTransferTest : public AscendExecutorTest {};

TEST_F(AscendTransferTest, RowsGoWhereTheyBelong) {
  const StorageView view{*context_->Allocate(64)};
  ASSERT_THAT(device().Fill(All(view), std::vector<std::byte>(4, std::byte{7})), IsOk());
  const MemoryRange rows = {
      .start = view.buffer->data() + 4, .row_bytes = 6, .rows = 3, .stride_bytes = 16};
  std::vector<std::byte> sent(18);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(100 + i);
  Fragments pieces;
  pieces.Append(std::span(sent).first(5));
  pieces.Append(std::span(sent).subspan(5));
  ASSERT_THAT(device().Upload(rows, pieces), IsOk());
  std::vector<std::byte> all(64);
  ASSERT_THAT(device().Download(All(view), 0, all), IsOk());
  for (size_t at = 0; at < 64; ++at) {
    const size_t row = at < 4 ? 3 : (at - 4) / 16;
    const size_t column = at < 4 ? 9 : (at - 4) % 16;
    const std::byte want = row < 3 && column < 6 ? sent[row * 6 + column] : std::byte{7};
    EXPECT_EQ(all[at], want) << at;
  }
  std::vector<std::byte> part(7);
  ASSERT_THAT(device().Download(rows, 4, part), IsOk());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), sent.begin() + 4));
  EXPECT_FALSE(device().Download(rows, 12, part).ok()) << "there are 18 bytes";
}

TEST_F(AscendTransferTest, CopiesBetweenUnlikeRowsAndFillsWithPatterns) {
  const StorageView view{*context_->Allocate(96)};
  const std::vector<std::byte> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::byte* start = view.buffer->data();
  ASSERT_THAT(device().Fill(All(view), std::vector<std::byte>(1, std::byte{0})), IsOk());
  ASSERT_THAT(
      device().Fill({.start = start, .row_bytes = 8, .rows = 3, .stride_bytes = 12}, pattern),
      IsOk());
  ASSERT_THAT(device().Copy({.start = start, .row_bytes = 8, .rows = 3, .stride_bytes = 12},
                            {.start = start + 48, .row_bytes = 12, .rows = 2, .stride_bytes = 24}),
              IsOk());
  std::vector<std::byte> all(96);
  ASSERT_THAT(device().Download(All(view), 0, all), IsOk());
  for (size_t at = 0; at < 96; ++at) {
    const bool source = at < 36 && at % 12 < 8;
    const bool target = at >= 48 && (at - 48) % 24 < 12;
    EXPECT_EQ(all[at], source || target ? pattern[at % 4] : std::byte{0}) << at;
  }
}

// Calls that may wait together, of a kind that can be joined and of one that cannot.
TEST_F(AscendExecutorTest, CallsThatWaitGiveTheBitsOfEachAlone) {
  Rng rng = MakeRng(31);
  std::vector<OpCase> cases;
  for (int64_t i = 0; i < 60; ++i) {
    const auto random = [&] { return TestTensor::Random(DType::kFloat32, {2, i % 7 + 1}, rng); };
    cases.push_back(
        CallOf("SmoothL1LossBackward", {random(), random(), random()}, {i % 2, double{1}}));
    cases.push_back(CallOf("Hardshrink", {random()}, {0.5}));
  }
  std::vector<std::future<absl::StatusOr<std::vector<TestTensor>>>> results;
  results.reserve(cases.size());
  for (const OpCase& op_case : cases) {
    results.push_back(std::async(std::launch::async,
                                 [this, &op_case] { return testing::Run(*engine_, op_case); }));
  }
  const std::unique_ptr<Engine> host = MakeEngine(1);
  for (size_t i = 0; i < cases.size(); ++i)
    ExpectSame(results[i].get(), testing::Run(*host, cases[i]));
  EXPECT_EQ(device().memory().stats().used_bytes, 0);
}

TEST_F(AscendExecutorTest, MakesNoPieces) {
  const OpCase op_case = CallOf("Hardshrink", {Floats({1, 2})}, {0.5});
  const absl::StatusOr<Plan> plan = engine_->MakePlan(ToNamedCall(op_case));
  ASSERT_THAT(plan, IsOk());
  const bool chunked[] = {true};
  ExpectError(CheckPiecewise(*plan, chunked), kParamInvalid, "device");
}

}  // namespace
}  // namespace opserve::testing
