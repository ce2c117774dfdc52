// Which steps of a program run together, and that nobody can tell by the results.
#include "core/engine/plan/program_stages.h"

#include <atomic>
#include <cstring>

#include "core/engine/run/program_run.h"
#include "gtest/gtest.h"
#include "tests/core/program/program_calls.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::MakeEngine;
using testing::PlanProgram;
using testing::Results;
using testing::Rng;
using testing::RunProgram;
using testing::SourceOf;
using testing::StepOf;
using testing::Tensors;
using testing::TestTensor;

using Steps = std::vector<ProgramSource::Step>;
using Named = std::vector<ProgramSource::Output>;

class ProgramStagesTest : public ::testing::Test {
 protected:
  TestTensor Random(const Dims& shape, DType dtype = DType::kFloat32) {
    return TestTensor::Random(dtype, shape, rng_);
  }
  bool RunsRanges() const { return engine_->devices()[0]->runs_ranges(); }
  absl::StatusOr<Plan> PlanOf(const Tensors& inputs, const Steps& steps, const Named& outputs) {
    return PlanProgram(*engine_, SourceOf(inputs, steps, outputs), inputs);
  }

  // The steps' names, "a,b|c d": a chain of a and b, then c beside d.
  std::string StagesOf(const Plan& plan) {
    std::string words;
    for (const ProgramStage& stage : plan.program->stages()) {
      for (const StepChain& chain : stage) {
        if (!words.empty()) words += &chain == &stage.front() ? '|' : ' ';
        for (size_t i = chain.first; i < chain.end; ++i) {
          if (i > chain.first) words += ',';
          words += plan.program->program().steps[i].name;
        }
      }
    }
    return words;
  }

  // The results of all steps, each run by a program of its own.
  Tensors OneByOne(const Tensors& inputs, const Steps& steps) {
    Tensors values = inputs;
    for (const ProgramSource::Step& step : steps) {
      Tensors given;
      for (const auto& value : values) {
        const auto names_it = [&](const auto& argument) { return argument.value == value.first; };
        if (std::any_of(step.arguments.begin(), step.arguments.end(), names_it))
          given.push_back(value);
      }
      absl::StatusOr<Results> made =
          RunProgram(*engine_, SourceOf(given, {step}, {{"y", step.name}}), given);
      EXPECT_THAT(made, testing::IsOk());
      values.emplace_back(step.name, std::move(made->at("y")));
    }
    return values;
  }

  void ExpectSameBits(const Tensors& inputs, const Steps& steps, const Named& outputs) {
    const absl::StatusOr<Results> results =
        RunProgram(*engine_, SourceOf(inputs, steps, outputs), inputs);
    ASSERT_THAT(results, testing::IsOk());
    const Tensors expected = OneByOne(inputs, steps);
    for (const ProgramSource::Output& output : outputs) {
      for (const auto& [name, tensor] : expected) {
        if (name != output.value) continue;
        EXPECT_EQ(results->at(output.name).bytes(), tensor.bytes()) << name;
      }
    }
  }

  Rng rng_ = testing::MakeRng(1);
  std::unique_ptr<Engine> engine_ = MakeEngine(2);
};

TEST_F(ProgramStagesTest, ElementwiseStepsOfOneShapeAreAChain) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({30, 1000})}, {"row", Random({1000})}};
  const Steps steps = {StepOf("a", "Tanh", {{"self", "x"}}),
                       StepOf("b", "Mul", {{"self", "a"}, {"other", "row"}}),
                       StepOf("c", "Add", {{"self", "b"}, {"other", "a"}}),
                       StepOf("d", "Softmax", {{"self", "c"}}, {{"dim", int64_t{1}}}),
                       StepOf("e", "Relu", {{"self", "d"}})};
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, {{"e", "e"}});
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(StagesOf(*plan), "a,b,c|d|e");
  // a and b have no memory but for their pieces; c and d have.
  EXPECT_EQ(plan->workspace_bytes, 2u * 120'000);
  EXPECT_EQ(plan->program->intermediate_bytes(), 4 * 120'000);
  ExpectSameBits(inputs, steps, {{"e", "e"}});
}

TEST_F(ProgramStagesTest, PiecesFitTheStackWhateverAChainKeeps) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({50'000})}};
  Steps steps;
  for (int i = 0; i < 100; ++i)
    steps.push_back(StepOf("s" + std::to_string(i), "Tanh", {{"self", "x"}}));
  for (int i = 1; i < 100; ++i) {
    const std::string before = i == 1 ? "s0" : "t" + std::to_string(i - 1);
    steps.push_back(StepOf("t" + std::to_string(i), "Add",
                           {{"self", before}, {"other", "s" + std::to_string(i)}}));
  }
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, {{"y", "t99"}});
  ASSERT_THAT(plan, testing::IsOk());
  for (const ProgramStage& stage : plan->program->stages()) {
    for (const StepChain& chain : stage) {
      ASSERT_TRUE(chain.runs_in_pieces());
      EXPECT_GE(chain.piece, kPieceUnit);
      EXPECT_LE(chain.piece, kMaxPiece);
      for (size_t i = chain.first; i < chain.end; ++i) {
        const ProgramPlan::Place& place = plan->program->steps()[i].outputs[0];
        if (place.in != ProgramPlan::Place::In::kPiece) continue;
        EXPECT_LE(place.at + static_cast<size_t>(chain.piece) * sizeof(float), kPieceBytes);
      }
    }
  }
  ExpectSameBits(inputs, steps, {{"y", "t99"}});
}

TEST_F(ProgramStagesTest, AViewOfWhatAChainMakesEndsIt) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({200, 200})}};
  Steps steps = {StepOf("a", "Tanh", {{"self", "x"}}), StepOf("b", "Relu", {{"self", "a"}}),
                 StepOf("c", "Add", {{"self", "b"}, {"other", "a"}}),
                 StepOf("d", "Tanh", {{"self", "c"}})};
  steps[2].arguments[1].view = {
      .dtype = DType::kUndefined, .shape = {200, 200}, .strides = {1, 200}};
  steps[2].arguments[1].has_strides = true;
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, {{"d", "d"}});
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(StagesOf(*plan), "a,b|c,d");
  const absl::StatusOr<Results> results =
      RunProgram(*engine_, SourceOf(inputs, steps, {{"d", "d"}, {"c", "c"}}), inputs);
  ASSERT_THAT(results, testing::IsOk());
  const std::vector<double> a = OneByOne(inputs, {steps[0]}).back().second.Values();
  const std::vector<double> c = results->at("c").Values();
  for (size_t i : {size_t{1}, size_t{777}, size_t{39'998}}) {
    const double transposed = a[i % 200 * 200 + i / 200];
    EXPECT_EQ(c[i], static_cast<double>(static_cast<float>(std::max(a[i], 0.0)) +
                                        static_cast<float>(transposed)));
  }
}

TEST_F(ProgramStagesTest, WhatAChainReadsIsNotOverwrittenWithinIt) {
  // m's memory would be free for c when a has read it, but for the pieces that are still to come.
  const Tensors inputs = {{"x", Random({300, 300})}};
  const Steps steps = {StepOf("m", "Softmax", {{"self", "x"}}, {{"dim", int64_t{1}}}),
                       StepOf("a", "Tanh", {{"self", "m"}}), StepOf("c", "Relu", {{"self", "x"}}),
                       StepOf("n", "Softmax", {{"self", "c"}}, {{"dim", int64_t{0}}}),
                       StepOf("y", "Add", {{"self", "n"}, {"other", "a"}})};
  ExpectSameBits(inputs, steps, {{"y", "y"}, {"again", "c"}});
  ExpectSameBits(inputs, steps, {{"y", "y"}});
}

TEST_F(ProgramStagesTest, ShortStepsThatDoNotDependOnEachOtherRunSideBySide) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({200, 200})}, {"w", Random({200, 200})}};
  const Steps steps = {StepOf("a", "Matmul", {{"self", "x"}, {"mat2", "w"}}),
                       StepOf("b", "Matmul", {{"self", "w"}, {"mat2", "x"}}),
                       StepOf("c", "Matmul", {{"self", "a"}, {"mat2", "b"}})};
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, {{"c", "c"}});
  ASSERT_THAT(plan, testing::IsOk());
  EXPECT_EQ(StagesOf(*plan), "a b|c");
  ExpectSameBits(inputs, steps, {{"c", "c"}});
}

TEST_F(ProgramStagesTest, FewRunSideBySideAsAllTakeMemoryAtOneTime) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({200, 200})}};
  Steps steps;
  Named outputs;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "s" + std::to_string(i);
    steps.push_back(StepOf(name, "Matmul", {{"self", "x"}, {"mat2", "x"}}));
    outputs.push_back({name, name});
  }
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, outputs);
  ASSERT_THAT(plan, testing::IsOk());
  for (const ProgramStage& stage : plan->program->stages()) EXPECT_LE(stage.size(), 8u);
  ExpectSameBits(inputs, steps, outputs);
}

TEST_F(ProgramStagesTest, RandomChainsGiveTheBitsOfTheirSteps) {
  constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  const std::vector<Dims> shapes = {{1}, {7, 9}, {70, 129}, {3, 1, 8192}, {40'000}, {2, 5, 4099}};
  for (int round = 0; round < 60; ++round) {
    const auto pick = [&](size_t count) { return static_cast<size_t>(rng_()) % count; };
    const Dims& shape = shapes[pick(shapes.size())];
    Tensors inputs;
    std::vector<std::string> values;
    for (const char* name : {"p", "q", "r"}) {
      const bool is_row = pick(3) == 0;
      TestTensor tensor = Random(is_row ? Dims{shape.back()} : shape, kDTypes[pick(3)]);
      if (pick(4) == 0) tensor = tensor.Scattered(2);
      inputs.emplace_back(name, std::move(tensor));
      if (!is_row || shape.size() == 1) values.emplace_back(name);
    }
    if (values.empty()) continue;
    Steps steps;
    Named outputs;
    for (int i = 0; i < 12; ++i) {
      const std::string name = "s" + std::to_string(i);
      const std::string self = values[pick(values.size())];
      const std::string other = pick(2) == 0 ? inputs[pick(3)].first : values[pick(values.size())];
      switch (pick(5)) {
        case 0:
          steps.push_back(StepOf(name, "Mul", {{"self", self}, {"other", other}}));
          break;
        case 1:
          steps.push_back(StepOf(name, "Add", {{"self", self}, {"other", other}}));
          break;
        case 2:
          steps.push_back(StepOf(name, "Silu", {{"self", self}}));
          break;
        case 3:
          steps.push_back(StepOf(name, "Tanh", {{"self", self}}));
          break;
        default:
          steps.push_back(StepOf(name, "Softmax", {{"self", self}}, {{"dim", int64_t{-1}}}));
      }
      values.push_back(name);
      if (pick(4) == 0) outputs.push_back({"o" + std::to_string(i), name});
    }
    outputs.push_back({"last", values.back()});
    SCOPED_TRACE(round);
    // Inputs that no step names are none of a program's.
    std::erase_if(inputs, [&](const auto& input) {
      return std::none_of(steps.begin(), steps.end(), [&](const ProgramSource::Step& step) {
        return std::any_of(step.arguments.begin(), step.arguments.end(),
                           [&](const auto& argument) { return argument.value == input.first; });
      });
    });
    ExpectSameBits(inputs, steps, outputs);
    if (HasFailure()) return;
  }
}

TEST_F(ProgramStagesTest, AStoppedChainShowsNothingOfTheStack) {
  if (!RunsRanges()) GTEST_SKIP() << "steps run one by one on this device";
  const Tensors inputs = {{"x", Random({40'000})}};
  const Steps steps = {StepOf("a", "Tanh", {{"self", "x"}}), StepOf("b", "Relu", {{"self", "a"}}),
                       StepOf("y", "Mul", {{"self", "b"}, {"other", "a"}})};
  const absl::StatusOr<Plan> plan = PlanOf(inputs, steps, {{"y", "y"}});
  ASSERT_THAT(plan, testing::IsOk());
  ASSERT_EQ(plan->workspace_bytes, 0u);
  const TestTensor whole = OneByOne(inputs, steps).back().second;
  constexpr auto kCanary = std::byte{0xA5};
  size_t partly = 0;
  for (int most = 0; most < 40; ++most) {
    std::vector<std::byte> made(whole.bytes().size(), kCanary);
    std::atomic<int> asked{0};
    const auto stop = [&] { return asked.fetch_add(1) >= most; };
    const Workers workers(plan->device->workers(), stop);
    const std::byte* const from = inputs[0].second.bytes().data();
    std::byte* const to = made.data();
    ASSERT_THAT(RunProgram(*plan->program, *plan->device,
                           {.call = plan->call,
                            .inputs = std::span(&from, 1),
                            .outputs = std::span(&to, 1),
                            .workspace = {},
                            .workers = workers}),
                testing::IsOk());
    size_t written = 0;
    for (size_t i = 0; i < made.size(); i += sizeof(float)) {
      uint32_t value = 0;
      std::memcpy(&value, made.data() + i, sizeof(value));
      if (value == 0xA5A5A5A5) continue;
      ++written;
      ASSERT_EQ(std::memcmp(made.data() + i, whole.bytes().data() + i, sizeof(float)), 0) << i;
    }
    if (written > 0 && written < made.size() / sizeof(float)) ++partly;
  }
  EXPECT_GT(partly, 0u);
}

}  // namespace
}  // namespace opserve
