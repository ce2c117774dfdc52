// Gradients of programs: beside the operators that schemas name, and beside differences of the
// program itself.
#include <cmath>
#include <string>

#include "core/op/op_table.h"
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
using testing::Rng;
using testing::RunProgram;
using testing::SourceOf;
using testing::StepOf;
using testing::Tensors;
using testing::TestTensor;

class ProgramGradientsTest : public ::testing::Test {
 protected:
  TestTensor Random(const Dims& shape, DType dtype = DType::kFloat32) {
    return TestTensor::Random(dtype, shape, rng_);
  }

  // For what has a bend or a pole there: no difference reaches it.
  TestTensor AwayFromZero(const Dims& shape) {
    TestTensor tensor = Random(shape);
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.Set(i, tensor.At(i) + (tensor.At(i) < 0 ? -2 : 2));
    return tensor;
  }

  // The gradients of value "y" times a random seed, with respect to all floating inputs, along a
  // random direction, beside the difference of the program there.
  void CheckByDifferences(Tensors inputs, const std::vector<ProgramSource::Step>& steps) {
    const auto value = [&](const Tensors& at) {
      return RunProgram(*engine_, SourceOf(at, steps, {{"y", "y"}}), at)->at("y");
    };
    const absl::StatusOr<Results> forward =
        RunProgram(*engine_, SourceOf(inputs, steps, {{"y", "y"}}), inputs);
    ASSERT_THAT(forward, testing::IsOk());
    const TestTensor seed = Random(forward->at("y").desc().shape);
    Tensors seeded = inputs;
    seeded.emplace_back("seed", seed);
    ProgramSource source = SourceOf(seeded, steps, {{"y", "y"}});
    source.gradients = ProgramSource::Gradients();
    source.gradients->of = "y";
    source.gradients->seed = "seed";
    for (const auto& [name, tensor] : inputs)
      if (IsFloating(tensor.desc().dtype)) source.gradients->with_respect_to.push_back(name);
    const absl::StatusOr<Results> results = RunProgram(*engine_, source, seeded);
    ASSERT_THAT(results, testing::IsOk());
    EXPECT_EQ(results->at("y").bytes(), forward->at("y").bytes());
    for (const std::string& name : source.gradients->with_respect_to) {
      SCOPED_TRACE(std::string(steps[0].op->name) + " by " + name);
      const TestTensor& gradient = results->at("grad_" + name);
      Check(inputs, name, gradient, seed, value);
    }
  }

  template <typename Value>
  void Check(const Tensors& inputs, const std::string& name, const TestTensor& gradient,
             const TestTensor& seed, const Value& value) {
    constexpr double kStep = 1.0 / 128;
    Tensors plus = inputs;
    Tensors minus = inputs;
    double expected = 0;
    double magnitude = 0.1;
    for (size_t at = 0; at < inputs.size(); ++at) {
      if (inputs[at].first != name) continue;
      ASSERT_EQ(gradient.desc().shape, inputs[at].second.desc().shape);
      const TestTensor direction = Random(gradient.desc().shape);
      for (int64_t i = 0; i < gradient.count(); ++i) {
        plus[at].second.Set(i, inputs[at].second.At(i) + kStep * direction.At(i));
        minus[at].second.Set(i, inputs[at].second.At(i) - kStep * direction.At(i));
        expected += gradient.At(i) * direction.At(i);
        magnitude += std::abs(gradient.At(i) * direction.At(i));
      }
    }
    double difference = 0;
    const TestTensor after = value(plus);
    const TestTensor before = value(minus);
    for (int64_t i = 0; i < seed.count(); ++i)
      difference += seed.At(i) * (after.At(i) - before.At(i)) / (2 * kStep);
    EXPECT_NEAR(difference, expected, 0.005 * magnitude);
  }

  Rng rng_ = testing::MakeRng(1);
  std::unique_ptr<Engine> engine_ = MakeEngine(2);
};

using List = std::vector<int64_t>;

TEST_F(ProgramGradientsTest, OfArithmetic) {
  const auto check = [&](std::string_view op, const Dims& a, const Dims& b,
                         std::vector<NamedAttribute> attributes = {}) {
    CheckByDifferences({{"a", Random(a)}, {"b", AwayFromZero(b)}},
                       {StepOf("y", op, {{"self", "a"}, {"other", "b"}}, std::move(attributes))});
  };
  for (const auto& [a, b] : {std::pair<Dims, Dims>{{3, 4}, {3, 4}},
                             {{3, 4}, {4}},
                             {{3, 1}, {1, 4}},
                             {{}, {2, 3}},
                             {{2, 3}, {}},
                             {{3}, {2, 1, 3}}}) {
    check("Add", a, b, {{"alpha", 2.0}});
    check("Sub", a, b, {{"alpha", 0.5}});
    check("Mul", a, b);
    check("Div", a, b);
  }
}

// 100000 is infinite in float16, 0.1 has an error of 0.1 % in bfloat16.
TEST_F(ProgramGradientsTest, FactorsAreNotRounded) {
  for (const auto& [dtype, factor] :
       {std::pair(DType::kFloat16, 1e5), {DType::kFloat16, 1e-8}, {DType::kBFloat16, 0.1}}) {
    const TestTensor zeros = TestTensor::Full(dtype, {3}, 0);
    const double seed = factor == 1e5 ? 0.001 : 3;
    Tensors inputs = {{"a", zeros}, {"b", zeros}, {"seed", TestTensor::Full(dtype, {3}, seed)}};
    ProgramSource source =
        SourceOf(inputs, {StepOf("y", "Sub", {{"self", "a"}, {"other", "b"}}, {{"alpha", factor}})},
                 {{"y", "y"}});
    source.gradients = ProgramSource::Gradients();
    source.gradients->of = "y";
    source.gradients->seed = "seed";
    source.gradients->with_respect_to = {"b"};
    const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
    ASSERT_THAT(results, testing::IsOk());
    const double exact = -factor * inputs[2].second.At(0);
    const TestTensor expected = TestTensor::Full(dtype, {3}, exact);
    EXPECT_EQ(results->at("grad_b").bytes(), expected.bytes()) << factor;
  }
}

TEST_F(ProgramGradientsTest, OfProducts) {
  for (const auto& [a, b] : {std::pair<Dims, Dims>{{3, 4}, {4, 5}},
                             {{4}, {4, 5}},
                             {{3, 4}, {4}},
                             {{4}, {4}},
                             {{2, 3, 4}, {4, 5}},
                             {{2, 3, 4}, {4}},
                             {{4}, {2, 4, 5}},
                             {{2, 1, 3, 4}, {3, 4, 5}},
                             {{3, 4}, {2, 4, 5}},
                             {{2, 3, 4}, {2, 4, 5}},
                             {{2, 3, 0}, {0, 5}},
                             {{2, 3, 4}, {4, 0}}}) {
    CheckByDifferences({{"a", Random(a)}, {"b", Random(b)}},
                       {StepOf("y", "Matmul", {{"self", "a"}, {"mat2", "b"}})});
  }
  CheckByDifferences({{"a", Random({2, 3, 4})}, {"b", Random({2, 4, 5})}},
                     {StepOf("y", "BatchMatMul", {{"self", "a"}, {"mat2", "b"}})});
  CheckByDifferences({{"s", Random({5})}, {"a", Random({3, 4})}, {"b", Random({4, 5})}},
                     {StepOf("y", "Addmm", {{"self", "s"}, {"mat1", "a"}, {"mat2", "b"}},
                             {{"beta", 0.5}, {"alpha", 3.0}})});
}

TEST_F(ProgramGradientsTest, OfReductionsAndOrders) {
  for (const bool keep : {false, true}) {
    for (const List& dims : {List{}, List{0}, List{-1}, List{0, 2}}) {
      CheckByDifferences(
          {{"a", Random({2, 3, 4})}},
          {StepOf("y", "ReduceSum", {{"self", "a"}}, {{"dims", dims}, {"keep_dims", keep}})});
      CheckByDifferences({{"a", Random({2, 3, 4})}}, {StepOf("y", "Mean", {{"self", "a"}},
                                                             {{"dim", dims}, {"keep_dim", keep}})});
    }
  }
  CheckByDifferences({{"a", Random({2, 3, 4})}},
                     {StepOf("y", "Permute", {{"self", "a"}}, {{"dims", List{2, 0, -2}}})});
}

TEST_F(ProgramGradientsTest, OfLookupsAndPlanes) {
  CheckByDifferences(
      {{"w", Random({6, 3})}, {"i", TestTensor::Of(DType::kInt64, {2, 2}, {0, 5, 2, 2})}},
      {StepOf("y", "Embedding", {{"weight", "w"}, {"indices", "i"}})});
  CheckByDifferences(
      {{"a", Random({1, 2, 3, 4})}},
      {StepOf("y", "UpsampleNearest2d", {{"self", "a"}}, {{"output_size", List{5, 7}}})});
  CheckByDifferences({{"a", Random({1, 2, 3, 4})}},
                     {StepOf("y", "UpsampleBilinear2d", {{"self", "a"}},
                             {{"output_size", List{5, 7}}, {"align_corners", true}})});
}

TEST_F(ProgramGradientsTest, OfOperatorsWhoseSchemaTellsIt) {
  CheckByDifferences({{"x", Random({2, 3, 6, 6})}, {"w", Random({4, 3, 3, 3})}, {"b", Random({4})}},
                     {StepOf("c", "Convolution", {{"input", "x"}, {"weight", "w"}, {"bias", "b"}},
                             {{"stride", List{1, 1}},
                              {"padding", List{1, 1}},
                              {"dilation", List{1, 1}},
                              {"transposed", false},
                              {"output_padding", List{0, 0}},
                              {"groups", int64_t{1}}}),
                      StepOf("y", "Tanh", {{"self", "c"}})});
  CheckByDifferences({{"x", Random({4, 6})}, {"g", Random({6})}, {"b", Random({6})}},
                     {StepOf("y", "LayerNorm", {{"input", "x"}, {"weight", "g"}, {"bias", "b"}},
                             {{"normalized_shape", List{6}}, {"eps", 1e-5}})});
  CheckByDifferences({{"x", Random({4, 6})}},
                     {StepOf("y", "LogSoftmax", {{"self", "x"}}, {{"dim", int64_t{1}}})});
  CheckByDifferences({{"x", AwayFromZero({4, 6})}, {"w", Random({1})}},
                     {StepOf("y", "Prelu", {{"self", "x"}, {"weight", "w"}})});
}

TEST_F(ProgramGradientsTest, SumWhatAllUsesOfAValueGive) {
  CheckByDifferences(
      {{"a", Random({3, 4})}},
      {StepOf("s", "Mul", {{"self", "a"}, {"other", "a"}}), StepOf("t", "Tanh", {{"self", "s"}}),
       StepOf("u", "Add", {{"self", "s"}, {"other", "t"}}),
       StepOf("y", "Mul", {{"self", "u"}, {"other", "a"}})});
}

TEST_F(ProgramGradientsTest, SumThousandsOfUses) {
  constexpr int kUses = 2000;
  const Tensors inputs = {{"x", TestTensor::Of(DType::kFloat32, {2}, {1, -1})}};
  std::vector<ProgramSource::Step> steps;
  std::string sum = "x";
  for (int i = 0; i < kUses; ++i) {
    const std::string number = std::to_string(i);
    steps.push_back(StepOf("r" + number, "Relu", {{"self", "x"}}));
    steps.push_back(StepOf("a" + number, "Add", {{"self", sum}, {"other", "r" + number}}));
    sum = "a" + number;
  }
  steps.push_back(StepOf("y", "ReduceSum", {{"self", sum}}, {{"dims", List{}}}));
  ProgramSource source = SourceOf(inputs, std::move(steps), {{"y", "y"}});
  source.gradients = {.of = "y", .with_respect_to = {"x"}, .seed = ""};
  const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("grad_x").Values(), (std::vector<double>{kUses + 1, 1}));
}

TEST_F(ProgramGradientsTest, PassThroughViews) {
  ProgramSource::Step transposed = StepOf("y", "Tanh", {{"self", "a"}});
  transposed.arguments[0].has_strides = true;
  transposed.arguments[0].view =
      TensorDesc{.dtype = DType::kUndefined, .shape = {4, 3}, .strides = {1, 4}};
  CheckByDifferences({{"a", Random({3, 4})}}, {transposed});
  ProgramSource::Step merged = transposed;  // of a value of another rank
  CheckByDifferences({{"a", Random({2, 6})}}, {merged});
  ProgramSource::Step flat = StepOf("y", "Tanh", {{"self", "a"}});
  flat.arguments[0].view = TensorDesc{.dtype = DType::kUndefined, .shape = {-1}};
  CheckByDifferences({{"a", Random({3, 4})}}, {flat});
  ProgramSource::Step repeated = StepOf("y", "Tanh", {{"self", "a"}});
  repeated.arguments[0].has_strides = true;
  repeated.arguments[0].view =
      TensorDesc{.dtype = DType::kUndefined, .shape = {2, 4, 3}, .strides = {0, 1, 4}};
  CheckByDifferences({{"a", Random({3, 4})}}, {repeated});
  ProgramSource::Step slice = transposed;
  slice.arguments[0].view =
      TensorDesc{.dtype = DType::kUndefined, .shape = {2}, .strides = {1}, .storage_offset = 1};
  const Tensors inputs = {{"a", Random({3, 4})}, {"seed", Random({2})}};
  ProgramSource source = SourceOf(inputs, {slice}, {{"y", "y"}});
  source.gradients = {.of = "y", .with_respect_to = {"a"}, .seed = "seed"};
  ExpectError(PlanProgram(*engine_, source, inputs).status(), ErrorReason::kInvalidParameter,
              "y.gradient");
}

TEST_F(ProgramGradientsTest, OfWhatNothingDependsOnAreZeros) {
  const Tensors inputs = {{"x", Random({3})}, {"unused", Random({2, 2})}};
  ProgramSource source = SourceOf(
      inputs, {StepOf("y", "ReduceSum", {{"self", "x"}}, {{"dims", List{}}})}, {{"y", "y"}});
  source.gradients = {.of = "y", .with_respect_to = {"unused", "x"}, .seed = ""};
  const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("grad_unused").Values(), std::vector<double>(4, 0));
  EXPECT_EQ(results->at("grad_x").Values(), std::vector<double>(3, 1));
}

TEST_F(ProgramGradientsTest, OfHalfTypesHaveTheirDType) {
  const Tensors inputs = {{"x", Random({3, 4}, DType::kBFloat16)}, {"w", Random({4})}};
  ProgramSource source = SourceOf(inputs,
                                  {StepOf("p", "Mul", {{"self", "x"}, {"other", "w"}}),
                                   StepOf("y", "Mean", {{"self", "p"}}, {{"dim", List{}}})},
                                  {{"y", "y"}});
  source.gradients = {.of = "y", .with_respect_to = {"x", "w"}, .seed = ""};
  const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
  ASSERT_THAT(results, testing::IsOk());
  EXPECT_EQ(results->at("grad_x").desc().dtype, DType::kBFloat16);
  EXPECT_EQ(results->at("grad_w").desc().dtype, DType::kFloat32);
  EXPECT_NEAR(results->at("grad_x").At(0), inputs[1].second.At(0) / 12, 1e-2);
}

TEST_F(ProgramGradientsTest, SayWhatHasNone) {
  const Tensors inputs = {
      {"x", Random({3})}, {"t", Random({3})}, {"i", TestTensor::Of(DType::kInt64, {2}, {0, 1})}};
  const auto error_of = [&](std::vector<ProgramSource::Step> steps, std::string of,
                            std::vector<std::string> with_respect_to, std::string seed = "") {
    ProgramSource source = SourceOf(inputs, std::move(steps), {{"y", "y"}});
    source.gradients = {.of = std::move(of),
                        .with_respect_to = std::move(with_respect_to),
                        .seed = std::move(seed)};
    return PlanProgram(*engine_, source, inputs).status();
  };
  const std::vector<ProgramSource::Step> loss = {
      StepOf("y", "L1Loss", {{"self", "x"}, {"target", "t"}}, {{"reduction", int64_t{1}}})};
  ExpectError(error_of(loss, "y", {"t"}), ErrorReason::kInvalidParameter, "y.target");
  ExpectError(error_of(loss, "y", {"q"}), ErrorReason::kUnknownParameter,
              "gradient.with_respect_to");
  ExpectError(error_of(loss, "q", {"x"}), ErrorReason::kUnknownParameter, "gradient.of");
  ExpectError(error_of(loss, "y", {}), ErrorReason::kMissingParameter, "gradient.with_respect_to");
  ExpectError(error_of(loss, "y", {"i"}), ErrorReason::kDTypeUnsupported,
              "gradient.with_respect_to");
  ExpectError(error_of(loss, "y", {"x"}, "x"), ErrorReason::kShapeMismatch, "gradient.seed");
  const std::vector<ProgramSource::Step> map = {StepOf("y", "Tanh", {{"self", "x"}})};
  ExpectError(error_of(map, "y", {"x"}), ErrorReason::kShapeMismatch, "gradient.of");
  const std::vector<ProgramSource::Step> twice = {
      StepOf("g", "TanhBackward", {{"grad_output", "x"}, {"output", "t"}}),
      StepOf("y", "ReduceSum", {{"self", "g"}}, {{"dims", List{}}})};
  ExpectError(error_of(twice, "y", {"x"}), ErrorReason::kInvalidParameter, "g.gradient");
}

}  // namespace
}  // namespace opserve
