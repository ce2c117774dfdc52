// Memory that a kernel has for itself, where the workspace is its client's.
#include <atomic>
#include <string>
#include <vector>

#include "tests/core/executor_calls.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int64_t kSteps = 40;
constexpr int64_t kClasses = 20;

// One sample of `labels` labels.
OpCase CtcCase(int64_t labels) {
  return CallOf("CtcLoss",
                {TestTensor::Full(DType::kFloat32, {kSteps, 1, kClasses}, -3),
                 TestTensor::Full(DType::kInt64, {1, labels}, 7)},
                {std::vector<int64_t>{kSteps}, std::vector<int64_t>{labels}, int64_t{0}, false});
}

// The case as a call on buffers.
template <typename Allocate>
BufferCall OnBuffers(const OpCase& op_case, const Allocate& allocate) {
  BufferCall call(op_case.op->name);
  call.named() = ToNamedCall(op_case);
  call.named().inputs.clear();
  for (size_t i = 0; i < op_case.inputs.size(); ++i)
    call.Input(op_case.op->inputs[i].name, op_case.inputs[i]->desc(), allocate(*op_case.inputs[i]));
  return call;
}

class ControlMemoryTest : public ExecutorFixture {
 protected:
  std::shared_ptr<Executor> CreateCtc() {
    BufferCall call =
        OnBuffers(CtcCase(10), [this](const TestTensor& tensor) { return Uploaded(tensor); });
    auto executor = Create(call, Executor::Use::kRepeatable);
    EXPECT_THAT(executor, IsOk());
    return *std::move(executor);
  }

  int64_t used() const { return budget_->stats().used_bytes; }

  // What an execution takes of the budget besides its outputs, which it makes.
  int64_t Taken(Executor& executor, const std::optional<StorageView>& workspace) {
    const int64_t before = budget_->stats().used_bytes;
    EXPECT_EQ(budget_->stats().peak_bytes, before);
    const std::vector<ExecutedOutput> outputs = Execute(executor, workspace);
    return budget_->stats().peak_bytes - before - executor.plan().call.output_bytes();
  }
};

TEST_F(ControlMemoryTest, ItIsTakenFromTheBudget) {
  const auto executor = CreateCtc();
  const auto control = static_cast<int64_t>(executor->plan().control_bytes);
  const auto workspace = static_cast<int64_t>(executor->plan().workspace_bytes);
  ASSERT_GT(control, 0);
  ASSERT_GT(workspace, 0);
  // The context owns no more than there is now; so the peak tells of executions.
  const StorageView brought = Allocate(workspace);
  EXPECT_EQ(Taken(*executor, brought), control);
}

TEST_F(ControlMemoryTest, ItIsLeasedWithTheWorkspace) {
  const auto executor = CreateCtc();
  const Plan& plan = executor->plan();
  const int64_t taken = Taken(*executor, std::nullopt);
  EXPECT_GE(taken, static_cast<int64_t>(plan.workspace_bytes + plan.control_bytes));
  EXPECT_LT(taken, static_cast<int64_t>(plan.workspace_bytes + plan.control_bytes) + 64);
}

TEST_F(ControlMemoryTest, ABudgetWithoutRoomForItRefuses) {
  const auto executor = CreateCtc();
  const Plan& plan = executor->plan();
  const StorageView workspace = Allocate(static_cast<int64_t>(plan.workspace_bytes));
  const int64_t left = plan.call.output_bytes() + static_cast<int64_t>(plan.control_bytes) - 1;
  const StorageView rest = Allocate(kBudgetBytes - used() - left);
  auto execution = executor->Begin(stream_, workspace);
  ASSERT_THAT(execution, IsOk());
  const auto [status, outputs] = RunOn(*stream_, *std::move(execution));
  ExpectError(status, ErrorReason::kResourceLimit, "control memory");
  EXPECT_TRUE(outputs.empty());
}

// The rule that a client cannot break: not by two streams on one workspace, nor by new labels.
TEST(SharedWorkspaceTest, StreamsThatShareAWorkspaceGetWrongNumbersAtWorst) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the race is what is tested: ThreadSanitizer would report it";
#endif
#endif
  const std::unique_ptr<Engine> engine = MakeEngine(3);
  Device& device = *engine->devices()[0];
  const auto budget = std::make_shared<MemoryBudget>(int64_t{8} << 20);
  const auto context = std::make_shared<Context>(device, budget, Clock::Real());
  const auto upload = [&](const TestTensor& tensor) {
    StorageView view{*context->Allocate(static_cast<int64_t>(tensor.bytes().size()))};
    std::copy(tensor.bytes().begin(), tensor.bytes().end(), view.buffer->data());
    return view;
  };
  const StorageView workspace{*context->Allocate(1 << 16)};
  constexpr int kRounds = 300;
  std::atomic<int> left = 3 * kRounds;
  Signal ended;
  const auto count = [&](const absl::Status&) {
    if (--left == 0) ended.Notify();
  };
  // Other numbers of labels, so that what is a label of one call is a number of the other's.
  std::vector<std::shared_ptr<Executor>> executors;
  std::vector<StorageView> labels;
  for (const int64_t number : {3, 16}) {
    BufferCall call = OnBuffers(CtcCase(number), upload);
    labels.push_back(call.storages()[1]);
    executors.push_back(*Executor::Create(*engine, context, call.named(), call.storages(),
                                          Executor::Use::kRepeatable));
    ASSERT_GE(1 << 16, executors.back()->plan().workspace_bytes);
  }
  std::vector<std::shared_ptr<Stream>> streams;
  for (const auto& executor : executors) {
    streams.push_back(context->CreateStream(Stream::OnFailure::kContinue));
    for (int i = 0; i < kRounds; ++i) {
      auto run = [execution = std::make_shared<Execution>(
                      *executor->Begin(streams.back(), workspace))] { return execution->Run(); };
      streams.back()->Enqueue({.id = 1, .run = std::move(run), .done = count});
    }
  }
  streams.push_back(context->CreateStream(Stream::OnFailure::kContinue));
  for (int i = 0; i < kRounds; ++i) {
    auto write = [&labels, i] {
      const int64_t label = i % 2 == 0 ? 7 : int64_t{1} << 40;
      for (const StorageView& view : labels)
        *reinterpret_cast<volatile int64_t*>(view.buffer->data()) = label;
      return absl::OkStatus();
    };
    streams.back()->Enqueue({.id = 1, .run = write, .done = count});
  }
  ended.Wait();
}

}  // namespace
}  // namespace opserve::testing
