// Every kernel answers a stop soon, whichever dimension of its tensors a client makes huge.
#include <sys/mman.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/engine/plan/cost.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/operator_test.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// 10 ms of work, in a build that is ten times slower. Kernels that do not ask miss it by far.
constexpr absl::Duration kMostBetweenAsks = absl::Milliseconds(100);
constexpr absl::Duration kLong = absl::Seconds(5);

// Zeros, of which only those that are written take memory.
class LazyMemory {
 public:
  explicit LazyMemory(size_t bytes) : bytes_(std::max<size_t>(bytes, 64)) {
    void* start = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(start, MAP_FAILED) << bytes_ << " bytes";
    data_ = static_cast<std::byte*>(start);
    // Huge pages would be written whole.
    ::madvise(start, bytes_, MADV_NOHUGEPAGE);
  }
  LazyMemory(LazyMemory&& other) noexcept
      : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  LazyMemory& operator=(LazyMemory&&) = delete;
  ~LazyMemory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, bytes_}; }

 private:
  size_t bytes_;
  std::byte* data_;
};

// All that a kernel works on, and the kernel.
class LazyRun {
 public:
  LazyRun(Device& device, const OpCall& call)
      : device_(device),
        call_(call),
        kernel_(*device.FindKernel(*call.op)),
        workspace_(kernel_.workspace_bytes(call)),
        control_(ControlBytes(kernel_, call)) {
    for (const auto& input : call.inputs) {
      if (input.has_value()) tensors_.emplace_back(static_cast<size_t>(input->reach_bytes()));
      inputs_.push_back(input.has_value() ? tensors_.back().data() : nullptr);
    }
    for (const OutputSlot& slot : call.outputs) {
      tensors_.emplace_back(static_cast<size_t>(slot.desc.reach_bytes()));
      outputs_.push_back(slot.wanted ? tensors_.back().data() : nullptr);
    }
  }

  size_t scratch_bytes() const {
    return kernel_.workspace_bytes(call_) + ControlBytes(kernel_, call_);
  }
  void FillScratch(uint64_t dirt) {
    for (const LazyMemory* memory : {&workspace_, &control_}) Repeat(DirtOf(dirt), memory->bytes());
  }

  // Whether it was stopped.
  bool Execute(absl::FunctionRef<bool()> stop) {
    const Workers workers(device_.workers(), stop);
    const absl::Status status = device_.Execute(kernel_, {.call = call_,
                                                          .inputs = inputs_,
                                                          .outputs = outputs_,
                                                          .workspace = workspace_.bytes(),
                                                          .control = control_.bytes(),
                                                          .workers = workers});
    EXPECT_THAT(status, IsOk());
    return workers.stopped();
  }

  // The first bytes of each output.
  std::vector<std::byte> Seen() const {
    std::vector<std::byte> seen;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] == nullptr) continue;
      const size_t bytes =
          std::min<size_t>(static_cast<size_t>(call_.outputs[i].desc.reach_bytes()), 1 << 16);
      seen.insert(seen.end(), outputs_[i], outputs_[i] + bytes);
    }
    return seen;
  }

 private:
  Device& device_;
  const OpCall& call_;
  const Kernel& kernel_;
  const LazyMemory workspace_;
  const LazyMemory control_;
  std::vector<LazyMemory> tensors_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

absl::Duration CpuTime() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return absl::DurationFromTimespec(now);
}

// Notes how much this thread computes from one question to the next.
class Asking {
 public:
  bool Stop(absl::Duration after) {
    Note();
    return last_ - start_ >= after;
  }
  // Since the last question, too.
  absl::Duration Longest() {
    Note();
    return longest_;
  }

 private:
  void Note() {
    const absl::Duration now = CpuTime();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
  }

  const absl::Duration start_ = CpuTime();
  absl::Duration last_ = start_;
  absl::Duration longest_;
};

// A virtual machine's host may hold up a run, even in its CPU time; a kernel that does not ask is
// late in every run.
absl::Duration LeastOfRuns(absl::FunctionRef<absl::Duration()> longest_of_run) {
  constexpr int kMostRuns = 5;
  absl::Duration least = absl::InfiniteDuration();
  for (int run = 0; run < kMostRuns && least > kMostBetweenAsks / 2; ++run)
    least = std::min(least, longest_of_run());
  return least;
}

class StopTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  Device& device() { return *engine_->devices()[0]; }

  // On this thread, whose CPU time it is.
  const std::unique_ptr<Engine> engine_ = MakeEngine(1);
};

TEST_P(StopTest, IsAnsweredSoon) {
  for (const LongCall& call : LongCallsOf(*GetParam())) {
    SCOPED_TRACE(call.label);
    const absl::Duration longest = LeastOfRuns([&] {
      LazyRun run(device(), call.call);
      EXPECT_GE(EstimateCost(call.call, run.scratch_bytes()).time, kLong);
      Asking asking;
      EXPECT_TRUE(run.Execute([&] { return asking.Stop(call.stop_after); }));
      return asking.Longest();
    });
    EXPECT_LE(longest, kMostBetweenAsks);
  }
}

// A client may see what a stopped call left of its outputs.
TEST_P(StopTest, LeavesNoStaleMemoryInTheOutputs) {
  constexpr size_t kMostScratch = 1 << 20;
  for (const LongCall& call : LongCallsOf(*GetParam())) {
    SCOPED_TRACE(call.label);
    for (int asks = 2; asks < 7; ++asks) {
      const auto run_with = [&](uint64_t dirt) {
        LazyRun run(device(), call.call);
        if (run.scratch_bytes() > kMostScratch) return std::vector<std::byte>();
        run.FillScratch(dirt);
        int left = asks;
        EXPECT_TRUE(run.Execute([&] { return --left == 0; }));
        return run.Seen();
      };
      ASSERT_EQ(run_with(1), run_with(2)) << asks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOperators, StopTest,
                         ::testing::ValuesIn(AllOperators().begin(), AllOperators().end()),
                         [](const ::testing::TestParamInfo<const Operator*>& row) {
                           return std::string(row.param->name);
                         });

// What comes late in a call is only seen when the call gets there.
TEST(LongEndTest, AsksThroughout) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  std::vector<LongCall> calls;
  for (const Operator* op : AllOperators()) {
    if (TestOf(*op).long_ends == nullptr) continue;
    for (LongCall& call : TestOf(*op).long_ends()) calls.push_back(std::move(call));
  }
  ASSERT_FALSE(calls.empty());
  for (const LongCall& call : calls) {
    SCOPED_TRACE(call.label);
    const absl::Duration longest = LeastOfRuns([&] {
      LazyRun run(*engine->devices()[0], call.call);
      Asking asking;
      EXPECT_FALSE(run.Execute([&] { return asking.Stop(absl::InfiniteDuration()); }));
      return asking.Longest();
    });
    EXPECT_LE(longest, kMostBetweenAsks / 2);
  }
}

}  // namespace
}  // namespace opserve::testing
