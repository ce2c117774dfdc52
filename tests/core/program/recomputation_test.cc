// Results that are computed again on the way back, so that a program takes no more workspace than
// it may: the same bits in less memory.
#include "core/program/recomputation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/core/program/program_calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::ExpectError;
using testing::MakeEngine;
using testing::PlanProgram;
using testing::Results;
using testing::RunProgram;
using testing::SourceOf;
using testing::StepOf;
using testing::Tensors;
using testing::TestTensor;

using List = std::vector<int64_t>;

constexpr int64_t kWidth = 32;
constexpr int64_t kLayerBytes = kWidth * kWidth * 4;

class RecomputationTest : public ::testing::Test {
 protected:
  // Products and Tanh in turns, each of kLayerBytes, and the mean.
  ProgramSource Deep(int layers, int64_t max_workspace_bytes) const {
    std::vector<ProgramSource::Step> steps;
    std::string last = "x";
    for (int i = 0; i < layers; ++i) {
      steps.push_back(StepOf(absl::StrCat("p", i), "Matmul", {{"self", last}, {"mat2", "w"}}));
      last = absl::StrCat("t", i);
      steps.push_back(StepOf(last, "Tanh", {{"self", absl::StrCat("p", i)}}));
    }
    steps.push_back(StepOf("loss", "Mean", {{"self", last}}, {{"dim", List{}}}));
    ProgramSource source = SourceOf(inputs_, std::move(steps), {{"loss", "loss"}});
    source.gradients = {.of = "loss",
                        .with_respect_to = {"x", "w"},
                        .seed = "",
                        .max_workspace_bytes = max_workspace_bytes};
    return source;
  }

  size_t StepsCalled(const Plan& plan, std::string_view prefix) const {
    size_t count = 0;
    for (const TypedProgram::Step& step : plan.program->program().steps)
      count += step.name.starts_with(prefix) ? 1 : 0;
    return count;
  }

  testing::Rng rng_ = testing::MakeRng(1);
  Tensors inputs_ = {{"x", TestTensor::Random(DType::kFloat32, {kWidth, kWidth}, rng_)},
                     {"w", TestTensor::Random(DType::kFloat32, {kWidth, kWidth}, rng_, 0.2)}};
  std::unique_ptr<Engine> engine_ = MakeEngine(1);
};

TEST_F(RecomputationTest, IsOnlyForABoundThatIsTooSmall) {
  const absl::StatusOr<Plan> free = PlanProgram(*engine_, Deep(16, 0), inputs_);
  ASSERT_THAT(free, testing::IsOk());
  const auto needed = static_cast<int64_t>(free->program->workspace_bytes());
  EXPECT_GE(needed, 15 * kLayerBytes);  // each layer's Tanh, until its gradient reads it
  const absl::StatusOr<Plan> enough = PlanProgram(*engine_, Deep(16, needed), inputs_);
  ASSERT_THAT(enough, testing::IsOk());
  EXPECT_EQ(StepsCalled(*enough, "again_"), 0u);
}

TEST_F(RecomputationTest, TakesNoMoreMemoryAndGivesTheSameBits) {
  const absl::StatusOr<Results> kept = RunProgram(*engine_, Deep(64, 0), inputs_);
  ASSERT_THAT(kept, testing::IsOk());
  size_t again = 0;
  // Of 64 layers' results: a half, a quarter, and about twice the root.
  for (const int64_t layers : {40, 24, 20}) {
    const ProgramSource bounded = Deep(64, layers * kLayerBytes);
    const absl::StatusOr<Plan> plan = PlanProgram(*engine_, bounded, inputs_);
    ASSERT_THAT(plan, testing::IsOk()) << layers;
    EXPECT_LE(plan->program->workspace_bytes(), static_cast<size_t>(layers * kLayerBytes));
    EXPECT_GE(StepsCalled(*plan, "again_"), again);  // less memory, more work
    again = StepsCalled(*plan, "again_");
    EXPECT_GT(again, 0u);
    EXPECT_LE(again, 2 * 64u);  // no step more than once more
    const absl::StatusOr<Results> results = RunProgram(*engine_, bounded, inputs_);
    ASSERT_THAT(results, testing::IsOk());
    for (const auto& [name, tensor] : *kept) EXPECT_EQ(results->at(name).bytes(), tensor.bytes());
  }
}

TEST_F(RecomputationTest, SaysTheLeast) {
  const absl::Status status = PlanProgram(*engine_, Deep(64, kLayerBytes), inputs_).status();
  ExpectError(status, ErrorReason::kOutOfRange, "gradient.max_workspace_bytes");
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value());
  int64_t least = 0;
  ASSERT_EQ(std::sscanf(detail->want.c_str(), "at least %ld", &least), 1) << detail->want;
  EXPECT_THAT(PlanProgram(*engine_, Deep(64, least), inputs_), testing::IsOk());
  ExpectError(PlanProgram(*engine_, Deep(1, -1), inputs_).status(), ErrorReason::kOutOfRange,
              "gradient.max_workspace_bytes");
}

// A result that a later segment reads stays; what its own segment made beside it is made again.
TEST_F(RecomputationTest, KeepsWhatLaterSegmentsRead) {
  std::vector<ProgramSource::Step> steps = {StepOf("skip", "Tanh", {{"self", "x"}})};
  std::string last = "skip";
  for (int i = 0; i < 16; ++i) {
    steps.push_back(StepOf(absl::StrCat("p", i), "Matmul", {{"self", last}, {"mat2", "w"}}));
    steps.push_back(
        StepOf(absl::StrCat("s", i), "Mul", {{"self", absl::StrCat("p", i)}, {"other", "skip"}}));
    last = absl::StrCat("s", i);
  }
  steps.push_back(StepOf("loss", "Mean", {{"self", last}}, {{"dim", List{}}}));
  ProgramSource source = SourceOf(inputs_, steps, {{"loss", "loss"}});
  source.gradients = {.of = "loss", .with_respect_to = {"x", "w"}, .seed = ""};
  const absl::StatusOr<Results> kept = RunProgram(*engine_, source, inputs_);
  ASSERT_THAT(kept, testing::IsOk());
  const absl::StatusOr<Plan> free = PlanProgram(*engine_, source, inputs_);
  ASSERT_THAT(free, testing::IsOk());
  source.gradients->max_workspace_bytes =
      static_cast<int64_t>(free->program->workspace_bytes() / 2);
  const absl::StatusOr<Plan> plan = PlanProgram(*engine_, source, inputs_);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_GT(StepsCalled(*plan, "again_p"), 0u);
  EXPECT_EQ(StepsCalled(*plan, "again_skip"), 0u);
  const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs_);
  ASSERT_THAT(results, testing::IsOk());
  for (const auto& [name, tensor] : *kept) EXPECT_EQ(results->at(name).bytes(), tensor.bytes());
}

}  // namespace
}  // namespace opserve
