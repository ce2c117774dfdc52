// Programs: their names, their plans, their results beside those of the same calls one by one.
#include "core/program/program.h"

#include <atomic>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/program/program_calls.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::CallOf;
using testing::ExpectError;
using testing::MakeEngine;
using testing::PlanProgram;
using testing::Results;
using testing::Rng;
using testing::RunProgram;
using testing::SourceOf;
using testing::StepOf;
using testing::Tensors;
using testing::TestTensor;

class ProgramTest : public ::testing::Test {
 protected:
  TestTensor Random(const Dims& shape) { return TestTensor::Random(DType::kFloat32, shape, rng_); }
  TestTensor Single(const testing::OpCase& op_case) {
    return (*testing::Run(*engine_, op_case)).front();
  }
  absl::Status ErrorOf(ProgramSource source, const Tensors& inputs) {
    return PlanProgram(*engine_, std::move(source), inputs).status();
  }

  Rng rng_ = testing::MakeRng(1);
  std::unique_ptr<Engine> engine_ = MakeEngine(2);
};

// x @ w + b, Tanh, the mean of the squared distance to t.
std::vector<ProgramSource::Step> Perceptron() {
  return {StepOf("h", "Addmm", {{"self", "b"}, {"mat1", "x"}, {"mat2", "w"}}),
          StepOf("a", "Tanh", {{"self", "h"}}),
          StepOf("loss", "MseLoss", {{"self", "a.out"}, {"target", "t"}},
                 {{"reduction", std::string("mean")}})};
}

TEST_F(ProgramTest, GivesTheBitsOfItsStepsOneByOne) {
  const Tensors inputs = {{"x", Random({40, 30})},
                          {"w", Random({30, 20})},
                          {"b", Random({20})},
                          {"t", Random({40, 20})}};
  const absl::StatusOr<Results> results =
      RunProgram(*engine_, SourceOf(inputs, Perceptron(), {{"loss", "loss"}, {"a", "a"}}), inputs);
  ASSERT_THAT(results, testing::IsOk());
  const TestTensor h = Single(CallOf(
      "Addmm", {inputs[2].second, inputs[0].second, inputs[1].second}, {1.0, 1.0, int64_t{0}}));
  const TestTensor a = Single(CallOf("Tanh", {h}, {}));
  const TestTensor loss = Single(CallOf("MseLoss", {a, inputs[3].second}, {int64_t{1}}));
  EXPECT_EQ(results->at("a").bytes(), a.bytes());
  EXPECT_EQ(results->at("loss").bytes(), loss.bytes());
  EXPECT_EQ(engine_->devices()[0]->memory().stats().used_bytes, 0);
}

TEST_F(ProgramTest, ReusesTheMemoryOfResultsThatNobodyReadsAnyMore) {
  const Tensors inputs = {{"x", Random({20, 50})}};
  std::vector<ProgramSource::Step> steps;
  std::string last = "x";
  for (int i = 0; i < 10; ++i) {
    const std::string name = "s" + std::to_string(i);
    steps.push_back(StepOf(name, "Softmax", {{"self", last}}, {{"dim", int64_t{1}}}));
    last = name;
  }
  const absl::StatusOr<Plan> plan =
      PlanProgram(*engine_, SourceOf(inputs, steps, {{"y", last}}), inputs);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->program->intermediate_bytes(), 9 * 4000);
  EXPECT_EQ(plan->workspace_bytes, 2u * 4032);
  EXPECT_GT(HostBytes(*plan), 10 * 3072);
}

TEST_F(ProgramTest, LeavesOutStepsThatNoOutputNeeds) {
  const Tensors inputs = {{"x", Random({10})}};
  const absl::StatusOr<Plan> plan = PlanProgram(
      *engine_,
      SourceOf(inputs,
               {StepOf("unused", "Tanh", {{"self", "x"}}), StepOf("y", "Relu", {{"self", "x"}})},
               {{"y", "y"}}),
      inputs);
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(plan->program->steps().size(), 1u);
}

TEST_F(ProgramTest, TakesValuesAsViews) {
  const TestTensor x = TestTensor::Of(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensors inputs = {{"x", x}};
  ProgramSource::Step step = StepOf("y", "Relu", {{"self", "x"}});
  const auto run = [&](const TensorDesc& view, bool has_strides) {
    step.arguments[0].view = view;
    step.arguments[0].has_strides = has_strides;
    return RunProgram(*engine_, SourceOf(inputs, {step}, {{"y", "y"}}), inputs);
  };
  using Values = std::vector<double>;
  const TensorDesc transposed{.dtype = DType::kUndefined, .shape = {3, 2}, .strides = {1, 3}};
  EXPECT_EQ(run(transposed, true)->at("y").Values(), (Values{1, 4, 2, 5, 3, 6}));
  const TensorDesc column{
      .dtype = DType::kFloat32, .shape = {2}, .strides = {3}, .storage_offset = 1};
  EXPECT_EQ(run(column, true)->at("y").Values(), (Values{2, 5}));
  const absl::StatusOr<Results> flat = run({.dtype = DType::kUndefined, .shape = {-1}}, false);
  EXPECT_EQ(flat->at("y").desc().shape, (Dims{6}));
  ExpectError(run({.dtype = DType::kUndefined, .shape = {-1, 4}}, false).status(),
              ErrorReason::kShapeMismatch, "y.self");
  ExpectError(run({.dtype = DType::kUndefined, .shape = {-1, -1}}, false).status(),
              ErrorReason::kInvalidParameter, "y.self");
  ExpectError(run({.dtype = DType::kUndefined, .shape = {7}}, false).status(),
              testing::kParamInvalid, "y.self");
  ExpectError(run({.dtype = DType::kFloat16, .shape = {6}}, false).status(),
              ErrorReason::kDTypeUnsupported, "y.self");
  const TensorDesc beyond{.dtype = DType::kUndefined, .shape = {3, 2}, .strides = {1, 4}};
  ExpectError(run(beyond, true).status(), testing::kParamInvalid, "y.self");
}

TEST_F(ProgramTest, TakesNothingOfAValueAsAViewFromAnywhere) {
  const TensorDesc second{
      .dtype = DType::kFloat32, .shape = {2}, .strides = {1}, .storage_offset = 1};
  const Tensors inputs = {{"x", TestTensor(second)}};
  ProgramSource::Step step = StepOf("y", "Relu", {{"self", "x"}});
  step.arguments[0].view = {.dtype = DType::kUndefined,
                            .shape = {0},
                            .strides = {1},
                            .storage_offset = std::numeric_limits<int64_t>::max()};
  step.arguments[0].has_strides = true;
  const absl::StatusOr<Results> results =
      RunProgram(*engine_, SourceOf(inputs, {step}, {{"y", "y"}}), inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("y").desc().shape, (Dims{0}));
}

TEST_F(ProgramTest, AnswersInputsAndOneValueTwice) {
  const Tensors inputs = {{"x", Random({5})}};
  const absl::StatusOr<Results> results =
      RunProgram(*engine_,
                 SourceOf(inputs, {StepOf("y", "Relu", {{"self", "x"}})},
                          {{"a", "y"}, {"b", "y.out"}, {"c", "x"}}),
                 inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("a").bytes(), results->at("b").bytes());
  EXPECT_EQ(results->at("c").bytes(), inputs[0].second.bytes());
}

TEST_F(ProgramTest, TakesConstantsAndStridedInputs) {
  const TestTensor x = Random({4, 6});
  const Tensors inputs = {{"x", x.Scattered(3)}};
  ProgramSource::Step step = StepOf("y", "Mul", {{"self", "x"}, {"other", ""}});
  const TestTensor two = TestTensor::Full(DType::kFloat32, {}, 2);
  step.arguments[1].view = two.desc();
  step.arguments[1].constant = two.bytes();
  const absl::StatusOr<Results> results =
      RunProgram(*engine_, SourceOf(inputs, {step}, {{"y", "y"}}), inputs);
  ASSERT_THAT(results, testing::IsOk());
  for (int64_t i = 0; i < x.count(); ++i) EXPECT_EQ(results->at("y").At(i), 2 * x.At(i));
}

TEST_F(ProgramTest, RunsOnNothing) {
  const Tensors inputs = {{"x", TestTensor(TensorDesc::Dense(DType::kFloat32, Dims{0, 3}))}};
  const absl::StatusOr<Results> results = RunProgram(
      *engine_,
      SourceOf(inputs, {StepOf("a", "Tanh", {{"self", "x"}}), StepOf("y", "Relu", {{"self", "a"}})},
               {{"y", "y"}}),
      inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("y").desc().shape, (Dims{0, 3}));
}

TEST_F(ProgramTest, NamesTheStepOfAnError) {
  const Tensors inputs = {{"x", Random({4, 3})}, {"w", Random({4, 3})}};
  const auto error_of = [&](ProgramSource::Step step) {
    return ErrorOf(SourceOf(inputs, {std::move(step)}, {{"y", "h"}}), inputs);
  };
  ExpectError(error_of(StepOf("h", "Matmul", {{"self", "x"}, {"mat2", "w"}})),
              ErrorReason::kShapeMismatch, "h.mat2");
  ExpectError(error_of(StepOf("h", "Matmul", {{"self", "x"}})), ErrorReason::kMissingParameter,
              "h.mat2");
  ExpectError(error_of(StepOf("h", "Relu", {{"self", "q"}})), ErrorReason::kUnknownParameter,
              "h.self");
  ExpectError(error_of(StepOf("h", "Relu", {{"slf", "x"}})), ErrorReason::kUnknownParameter,
              "h.slf");
  ExpectError(error_of(StepOf("h", "Add", {{"self", "x"}, {"other", "w"}}, {{"alfa", 1.0}})),
              ErrorReason::kUnknownParameter, "h.alfa");
  ExpectError(error_of(StepOf("x", "Relu", {{"self", "x"}})), ErrorReason::kInvalidParameter, "x");
  ExpectError(error_of(StepOf("a.b", "Relu", {{"self", "x"}})), ErrorReason::kInvalidParameter,
              "a.b");
  ExpectError(error_of(StepOf("", "Relu", {{"self", "x"}})), ErrorReason::kMissingParameter,
              "steps");
  // A step sees only what is before it.
  ExpectError(
      ErrorOf(SourceOf(inputs,
                       {StepOf("a", "Relu", {{"self", "b"}}), StepOf("b", "Relu", {{"self", "x"}})},
                       {{"y", "a"}}),
              inputs),
      ErrorReason::kUnknownParameter, "a.self");
}

// A program has thousands of names, of which each may be long.
TEST_F(ProgramTest, SuggestsShortNamesOnly) {
  const std::string longest(32, 'x');
  const Tensors inputs = {{longest, Random({4})}, {longest + "yyy", Random({4})}};
  const auto error_of = [&](const std::string& name) {
    return std::string(
        ErrorOf(SourceOf(inputs, {StepOf("h", "Relu", {{"self", name}})}, {{"y", "h"}}), inputs)
            .message());
  };
  EXPECT_THAT(error_of(longest.substr(1)),
              ::testing::HasSubstr("did you mean \"" + longest + "\"?"));
  EXPECT_THAT(error_of(longest + "yy"), ::testing::Not(::testing::HasSubstr("did you mean")));
  ProgramSource source = SourceOf(inputs, {StepOf("h", "Relu", {{"self", longest}})}, {{"y", "h"}});
  source.gradients = ProgramSource::Gradients();
  source.gradients->of = "h";
  source.gradients->with_respect_to = {longest + "yy"};
  EXPECT_THAT(std::string(ErrorOf(source, inputs).message()),
              ::testing::Not(::testing::HasSubstr("did you mean")));
}

TEST_F(ProgramTest, NamesTheOutputOfAnError) {
  const Tensors inputs = {{"x", Random({4})}};
  const auto error_of = [&](std::vector<ProgramSource::Output> outputs) {
    return ErrorOf(SourceOf(inputs, {StepOf("h", "Relu", {{"self", "x"}})}, std::move(outputs)),
                   inputs);
  };
  ExpectError(error_of({}), ErrorReason::kMissingParameter, "outputs");
  ExpectError(error_of({{"y", "k"}}), ErrorReason::kUnknownParameter, "y");
  ExpectError(error_of({{"y", "h"}, {"y", "x"}}), ErrorReason::kInvalidParameter, "y");
  ExpectError(error_of({{"", "h"}}), ErrorReason::kMissingParameter, "outputs");
}

TEST_F(ProgramTest, BoundsItsSteps) {
  const Tensors inputs = {{"x", Random({1})}};
  std::vector<ProgramSource::Step> steps;
  for (size_t i = 0; i <= kMaxProgramSteps; ++i)
    steps.push_back(StepOf("s" + std::to_string(i), "Relu", {{"self", "x"}}));
  const absl::Status status = ErrorOf(SourceOf(inputs, steps, {{"y", "s0"}}), inputs);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  steps.pop_back();
  EXPECT_THAT(PlanProgram(*engine_, SourceOf(inputs, steps, {{"y", "s4095"}}), inputs),
              testing::IsOk());
}

TEST_F(ProgramTest, IsStopped) {
  const Tensors inputs = {{"x", Random({1 << 20})}};
  OneShot shot;
  std::vector<ProgramSource::Step> steps = {StepOf("s0", "Tanh", {{"self", "x"}})};
  for (int i = 1; i < 2000; ++i)
    steps.push_back(
        StepOf("s" + std::to_string(i), "Tanh", {{"self", "s" + std::to_string(i - 1)}}));
  shot.plan = *PlanProgram(*engine_, SourceOf(inputs, steps, {{"y", "s1999"}}), inputs);
  shot.storages.emplace_back(std::span(inputs[0].second.bytes()));
  std::atomic<int> asked{0};
  shot.cancelled = [&asked] { return ++asked > 100; };
  const absl::StatusOr<Outputs> outputs = testing::SubmitAndWait(*engine_, std::move(shot));
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kCancelled) << outputs.status();
  EXPECT_LT(asked.load(), 1000);
}

TEST_F(ProgramTest, IsCountedByItself) {
  const Tensors inputs = {{"x", Random({5})}};
  ASSERT_THAT(
      RunProgram(*engine_, SourceOf(inputs, {StepOf("y", "Relu", {{"self", "x"}})}, {{"y", "y"}}),
                 inputs),
      testing::IsOk());
  const EngineStatistics statistics = engine_->statistics();
  ASSERT_EQ(statistics.operators.size(), 1u);
  EXPECT_EQ(statistics.operators[0].op, kProgramName);
  EXPECT_EQ(statistics.operators[0].calls, 1);
}

}  // namespace
}  // namespace opserve
