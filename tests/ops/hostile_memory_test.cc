// A kernel's inputs and its workspace may be memory that a client writes while the kernel runs.
// Whatever is written there, nothing happens outside of the outputs, and no output shows what lay
// in scratch memory before.
//
// The client here is the predicate that asks whether to stop: between any two chunks it overwrites
// all that a client could.
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "gtest/gtest.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// ThreadSanitizer would report what is tested: that others write while the kernel reads.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OPSERVE_SKIP_RACES() GTEST_SKIP() << "the race is what is tested"
#endif
#endif
#ifndef OPSERVE_SKIP_RACES
#define OPSERVE_SKIP_RACES() static_cast<void>(0)
#endif

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t Bits(float first, float second) {
  return std::bit_cast<uint64_t>(std::array<float, 2>{first, second});
}

// What a hostile client writes, another pattern each time. Thread-safe.
class Scribbler {
 public:
  explicit Scribbler(size_t first) : next_(first) {}

  void Scribble(std::span<const std::span<std::byte>> memory) {
    MutexLock lock(mutex_);
    for (const std::span<std::byte> bytes : memory) Write(bytes);
    ++next_;
  }

 private:
  void Write(std::span<std::byte> bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    constexpr auto kInfinity = std::numeric_limits<double>::infinity();
    constexpr auto kFloatInfinity = std::numeric_limits<float>::infinity();
    constexpr auto kNaN = std::numeric_limits<double>::quiet_NaN();
    const uint64_t patterns[] = {
        uint64_t{1} << 40, Bits(1.0F, 1.0F),
        ~uint64_t{0},      Bits(kFloatInfinity, kFloatInfinity),
        Bits(1.0),         uint64_t{1} << 63,
        Bits(kInfinity),   Bits(-kFloatInfinity, std::numeric_limits<float>::quiet_NaN()),
        Bits(kNaN),        std::numeric_limits<int64_t>::max() / 8};
    const size_t turn = next_ % (std::size(patterns) + 1);
    if (turn < std::size(patterns)) {
      Repeat(std::as_bytes(std::span(&patterns[turn], 1)), bytes);
      return;
    }
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
  }

  Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_);
  Rng random_ ABSL_GUARDED_BY(mutex_){7};
};
constexpr size_t kPatterns = 11;

class HostileMemoryTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  // Calls body(case, plan, first pattern). Every case of a kernel that has memory of its own, some
  // of the others.
  template <typename Body>
  static void ForEachCase(const Body& body) {
    const std::vector<OpCase> cases = CasesOf(*GetParam());
    const std::unique_ptr<Engine> engine = MakeEngine(1);
    const Kernel& kernel = *engine->devices()[0]->FindKernel(*GetParam());
    for (size_t i = 0; i < cases.size(); i += kernel.control_bytes == nullptr ? 5 : 1) {
      SCOPED_TRACE(cases[i].label);
      const absl::StatusOr<OpCall> call = PlanCase(cases[i]);
      ASSERT_THAT(call, IsOk());
      body(cases[i], *call, i % kPatterns);
      if (HasFailure()) return;
    }
  }

  // Labels that were changed before they were read may be refused.
  static void ExpectDone(const absl::Status& status) {
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  }

  static void ExpectSame(const absl::StatusOr<std::vector<TestTensor>>& a,
                         const absl::StatusOr<std::vector<TestTensor>>& b) {
    ASSERT_EQ(a.status(), b.status());
    if (!a.ok()) return ExpectDone(a.status());
    for (size_t i = 0; i < a->size(); ++i)
      EXPECT_TRUE(SameBits((*a)[i], (*b)[i])) << "output " << i;
  }
};

TEST_P(HostileMemoryTest, NothingHappensOutsideOfTheOutputs) {
  OPSERVE_SKIP_RACES();
  for (const int threads : {1, 3}) {
    const std::unique_ptr<Engine> engine = MakeEngine(threads);
    ForEachCase([&](const OpCase& op_case, const OpCall& call, size_t first) {
      Scribbler scribbler(first);
      KernelTrial trial;
      trial.stop = [&](const ClientMemory& memory) {
        scribbler.Scribble(memory.inputs);
        scribbler.Scribble({&memory.workspace, 1});
        return false;
      };
      ExpectDone(RunKernel(*engine->devices()[0], call, op_case, trial).status());
    });
  }
}

// Of two runs with the same changes, one finds other bytes in its scratch memory.
TEST_P(HostileMemoryTest, ChangedInputsShowNoStaleMemory) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  ForEachCase([&](const OpCase& op_case, const OpCall& call, size_t first) {
    const auto run = [&](uint64_t dirt) {
      Scribbler scribbler(first);
      KernelTrial trial{.scratch = DirtOf(dirt)};
      trial.stop = [&](const ClientMemory& memory) {
        scribbler.Scribble(memory.inputs);
        return false;
      };
      return RunKernel(*engine->devices()[0], call, op_case, trial);
    };
    ExpectSame(run(1), run(2));
  });
}

// A client may see what a stopped call left of its outputs.
TEST_P(HostileMemoryTest, AStoppedCallShowsNoStaleMemory) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  ForEachCase([&](const OpCase& op_case, const OpCall& call, size_t first) {
    const auto run = [&](uint64_t dirt) {
      KernelTrial trial{.scratch = DirtOf(dirt)};
      trial.stop = [left = first](const ClientMemory&) mutable { return left-- == 0; };
      return RunKernel(*engine->devices()[0], call, op_case, trial);
    };
    ExpectSame(run(1), run(2));
  });
}

INSTANTIATE_TEST_SUITE_P(AllOperators, HostileMemoryTest, ::testing::ValuesIn(OperatorsOfShard()),
                         [](const ::testing::TestParamInfo<const Operator*>& row) {
                           return std::string(row.param->name);
                         });

}  // namespace
}  // namespace opserve::testing
