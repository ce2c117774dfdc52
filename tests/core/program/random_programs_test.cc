// Random programs: their gradients beside differences of the program in float64, made of the
// operators' references, and what the engine gives beside both.
//
// OPSERVE_TEST_PROGRAMS says how many, 200 where it says nothing.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/core/program/program_calls.h"
#include "tests/support/errors.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::MakeEngine;
using testing::OpCase;
using testing::PlanProgram;
using testing::Results;
using testing::Rng;
using testing::RunProgram;
using testing::SourceOf;
using testing::StepOf;
using testing::Tensors;
using testing::TestTensor;

int NumPrograms() {
  const char* const asked = std::getenv("OPSERVE_TEST_PROGRAMS");
  return asked == nullptr ? 200 : std::atoi(asked);
}

// A program that grows by steps which fit what is there.
class Generator {
 public:
  explicit Generator(Rng& rng) : rng_(rng) {
    const Dims shapes[] = {{3, 4}, {4}, {4, 3}, {2, 3, 4}, {}, {1, 4}};
    const size_t inputs = 2 + Any(3);
    for (size_t i = 0; i < inputs; ++i)
      Add(absl::StrCat("x", i), shapes[Any(std::size(shapes))], true);
    const size_t steps = 3 + Any(8);
    while (steps_.size() < steps) AddStep();
    Append("y", "Mean", {{"self", values_.back().name}}, {{"dim", std::vector<int64_t>()}}, {});
  }

  const std::vector<ProgramSource::Step>& steps() const { return steps_; }
  Tensors Inputs() {
    Tensors inputs;
    for (const Value& value : values_)
      if (value.is_input)
        inputs.emplace_back(value.name,
                            TestTensor::Random(DType::kFloat32, value.shape, rng_, 0.7));
    return inputs;
  }

 private:
  struct Value {
    std::string name;
    Dims shape;
    bool is_input;
  };

  size_t Any(size_t count) { return rng_() % count; }
  const Value& AnyValue() { return values_[Any(values_.size())]; }
  void Add(std::string name, const Dims& shape, bool is_input) {
    values_.push_back({std::move(name), shape, is_input});
  }
  void Append(std::string name, std::string_view op,
              std::vector<std::pair<std::string, std::string>> arguments,
              std::vector<NamedAttribute> attributes, const Dims& shape) {
    steps_.push_back(StepOf(name, op, std::move(arguments), std::move(attributes)));
    Add(std::move(name), shape, false);
  }
  std::string NewName() const { return absl::StrCat("s", steps_.size()); }

  void AddStep() {
    switch (Any(8)) {
      case 0:
      case 1:
        return AddMap();
      case 2:
      case 3:
        return AddArithmetic();
      case 4:
        return AddProduct();
      case 5:
        return AddReduction();
      case 6:
        return AddAlongDimension();
      default:
        return AddView();
    }
  }

  void AddMap() {
    constexpr std::string_view kMaps[] = {"Tanh", "Sigmoid", "Gelu", "Softplus", "Silu", "Mish"};
    const Value from = AnyValue();
    Append(NewName(), kMaps[Any(std::size(kMaps))], {{"self", from.name}}, {}, from.shape);
  }

  void AddArithmetic() {
    constexpr std::string_view kOps[] = {"Add", "Sub", "Mul"};
    const Value a = AnyValue();
    const Value b = AnyValue();
    const std::optional<Dims> shape = BroadcastShapes(a.shape, b.shape);
    if (!shape.has_value()) return;
    const std::string_view op = kOps[Any(std::size(kOps))];
    std::vector<NamedAttribute> attributes;
    if (op != "Mul") attributes.push_back({"alpha", 0.75});
    Append(NewName(), op, {{"self", a.name}, {"other", b.name}}, std::move(attributes), *shape);
  }

  void AddProduct() {
    const Value a = AnyValue();
    const Value b = AnyValue();
    if (a.shape.empty() || b.shape.empty()) return;
    const int64_t depth = b.shape.size() == 1 ? b.shape[0] : b.shape[b.shape.size() - 2];
    if (a.shape.back() != depth) return;
    const auto batch_of = [](const Dims& shape) {
      return std::span<const int64_t>(shape).first(shape.size() < 2 ? 0 : shape.size() - 2);
    };
    std::optional<Dims> shape = BroadcastShapes(batch_of(a.shape), batch_of(b.shape));
    if (!shape.has_value()) return;
    if (a.shape.size() > 1) shape->push_back(a.shape[a.shape.size() - 2]);
    if (b.shape.size() > 1) shape->push_back(b.shape.back());
    Append(NewName(), "Matmul", {{"self", a.name}, {"mat2", b.name}}, {}, *shape);
  }

  void AddReduction() {
    const Value from = AnyValue();
    if (from.shape.empty()) return;
    const size_t dim = Any(from.shape.size());
    const bool keep = Any(2) == 0;
    Dims shape = from.shape;
    if (keep) {
      shape[dim] = 1;
    } else {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
    }
    const std::vector<int64_t> dims = {static_cast<int64_t>(dim)};
    if (Any(2) == 0) {
      Append(NewName(), "ReduceSum", {{"self", from.name}}, {{"dims", dims}, {"keep_dims", keep}},
             shape);
    } else {
      Append(NewName(), "Mean", {{"self", from.name}}, {{"dim", dims}, {"keep_dim", keep}}, shape);
    }
  }

  void AddAlongDimension() {
    const Value from = AnyValue();
    if (from.shape.empty()) return;
    const auto dim = static_cast<int64_t>(Any(from.shape.size()));
    Append(NewName(), Any(2) == 0 ? "Softmax" : "LogSoftmax", {{"self", from.name}}, {{"dim", dim}},
           from.shape);
  }

  // Transposed, flat, or broadcast.
  void AddView() {
    const Value from = AnyValue();
    TensorDesc view = TensorDesc::Dense(DType::kUndefined, from.shape);
    const size_t kind = Any(3);
    if (kind == 0) {
      view = TensorDesc::Dense(DType::kUndefined, Dims{*NumElements(from.shape)});
    } else if (kind == 1 && from.shape.size() > 1) {
      std::swap(view.shape[0], view.shape.back());
      std::swap(view.strides[0], view.strides.back());
    } else {
      view.shape.insert(view.shape.begin(), 2);
      view.strides.insert(view.strides.begin(), 0);
    }
    if (*NumElements(view.shape) > 200) return;
    Append(NewName(), "Tanh", {{"self", from.name}}, {}, view.shape);
    steps_.back().arguments[0].view = view;
    steps_.back().arguments[0].has_strides = true;
  }

  Rng& rng_;
  std::vector<Value> values_;
  std::vector<ProgramSource::Step> steps_;
};

// Inputs and constants in float64; the results of steps are not made yet.
std::vector<TestTensor> GivenValues(const TypedProgram& program, const Tensors& inputs) {
  std::vector<TestTensor> values;
  for (const TypedProgram::Value& value : program.values) {
    if (value.input >= 0) {
      const TestTensor& input = inputs[static_cast<size_t>(value.input)].second;
      values.push_back(TestTensor::Of(DType::kFloat64, input.desc().shape, input.Values()));
    } else if (!value.constant.empty()) {
      values.push_back(TestTensor::Full(DType::kFloat64, {},
                                        LoadAsDouble(value.desc.dtype, value.constant.data())));
    } else {
      values.emplace_back(TensorDesc::Dense(DType::kFloat64, value.desc.shape));
    }
  }
  return values;
}

TestTensor Viewed(const TestTensor& source, const TensorDesc& seen) {
  std::vector<double> elements;
  testing::ForEachOffset(seen.shape, seen.strides, [&](int64_t offset) {
    elements.push_back(source.At(offset + seen.storage_offset));
  });
  return TestTensor::Of(DType::kFloat64, seen.shape, elements);
}

std::vector<testing::Reference> Evaluate(const OpCall& call, const TypedProgram::Step& step,
                                         const std::vector<TestTensor>& values) {
  OpCase op_case;
  op_case.op = call.op;
  op_case.attributes.assign(call.attributes.begin(), call.attributes.end());
  for (size_t i = 0; i < step.sources.size(); ++i) {
    op_case.inputs.emplace_back();
    if (step.sources[i] >= 0)
      op_case.inputs.back() = Viewed(values[static_cast<size_t>(step.sources[i])], *call.inputs[i]);
  }
  // To float32 and back would round.
  if (call.op->name == "Cast") return {{.values = op_case.inputs[0]->Values(), .magnitudes = {}}};
  return testing::ReferenceOf(op_case);
}

// A typed program in float64, by the references; the values of its outputs.
std::vector<TestTensor> Evaluate(const ProgramPlan& plan, const Tensors& inputs) {
  const TypedProgram& program = plan.program();
  std::vector<TestTensor> values = GivenValues(program, inputs);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const TypedProgram::Step& step = program.steps[s];
    const std::vector<testing::Reference> results =
        Evaluate(plan.steps()[s].plan.call, step, values);
    for (size_t o = 0; o < results.size(); ++o) {
      const auto at = static_cast<size_t>(step.value_of(o));
      values[at] =
          TestTensor::Of(DType::kFloat64, program.values[at].desc.shape, results[o].values);
    }
  }
  std::vector<TestTensor> outputs;
  for (const int output : program.outputs) outputs.push_back(values[static_cast<size_t>(output)]);
  return outputs;
}

class RandomProgramsTest : public ::testing::Test {
 protected:
  void Check(Rng& rng) {
    Generator generator(rng);
    const Tensors inputs = generator.Inputs();
    ProgramSource source = SourceOf(inputs, generator.steps(), {{"y", "y"}});
    source.gradients = ProgramSource::Gradients();
    source.gradients->of = "y";
    for (const auto& [name, tensor] : inputs) source.gradients->with_respect_to.push_back(name);
    const absl::StatusOr<Plan> plan = PlanProgram(*engine_, source, inputs);
    ASSERT_THAT(plan, testing::IsOk());
    const ProgramPlan& program = *plan->program;
    const std::vector<TestTensor> exact = Evaluate(program, inputs);
    const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
    ASSERT_THAT(results, testing::IsOk());
    EXPECT_NEAR(results->at("y").At(0), exact[0].At(0), 1e-4 * (1 + std::abs(exact[0].At(0))));
    for (size_t i = 0; i < inputs.size(); ++i) {
      SCOPED_TRACE(inputs[i].first);
      ExpectDerivative(program, inputs, i, exact[1 + i], rng);
      ExpectNear(results->at("grad_" + inputs[i].first), exact[1 + i]);
    }
    ExpectSameInLessMemory(source, inputs, program, *results);
  }

  // With results computed again, where that saves any memory.
  void ExpectSameInLessMemory(ProgramSource source, const Tensors& inputs,
                              const ProgramPlan& program, const Results& want) {
    source.gradients->max_workspace_bytes =
        std::max<int64_t>(1, static_cast<int64_t>(program.workspace_bytes()) - 1);
    const absl::StatusOr<Plan> plan = PlanProgram(*engine_, source, inputs);
    if (!plan.ok()) {
      testing::ExpectError(plan.status(), ErrorReason::kOutOfRange, "gradient.max_workspace_bytes");
      return;
    }
    const auto& steps = plan->program->program().steps;
    in_less_memory_ += std::any_of(steps.begin(), steps.end(), [](const TypedProgram::Step& step) {
      return step.name.starts_with("again_");
    });
    EXPECT_LE(plan->program->workspace_bytes(),
              static_cast<size_t>(source.gradients->max_workspace_bytes));
    const absl::StatusOr<Results> results = RunProgram(*engine_, source, inputs);
    ASSERT_THAT(results, testing::IsOk());
    for (const auto& [name, tensor] : want) EXPECT_EQ(results->at(name).bytes(), tensor.bytes());
  }

  // Along a random direction.
  static void ExpectDerivative(const ProgramPlan& program, const Tensors& inputs, size_t input,
                               const TestTensor& gradient, Rng& rng) {
    constexpr double kStep = 1.0 / (1 << 14);
    const Dims& shape = inputs[input].second.desc().shape;
    ASSERT_EQ(gradient.desc().shape, shape);
    const TestTensor direction = TestTensor::Random(DType::kFloat32, shape, rng);
    double expected = 0;
    double magnitude = 1e-3;
    const auto value = [&](double step) {
      Tensors moved = inputs;
      TestTensor at(TensorDesc::Dense(DType::kFloat64, shape));
      for (int64_t i = 0; i < at.count(); ++i)
        at.Set(i, inputs[input].second.At(i) + step * direction.At(i));
      moved[input].second = at;
      return Evaluate(program, moved)[0].At(0);
    };
    for (int64_t i = 0; i < direction.count(); ++i) {
      expected += gradient.At(i) * direction.At(i);
      magnitude += std::abs(gradient.At(i) * direction.At(i));
    }
    EXPECT_NEAR((value(kStep) - value(-kStep)) / (2 * kStep), expected, 1e-5 * magnitude);
  }

  static void ExpectNear(const TestTensor& got, const TestTensor& want) {
    double largest = 1e-2;  // what cancels leaves rounding errors
    for (int64_t i = 0; i < want.count(); ++i) largest = std::max(largest, std::abs(want.At(i)));
    ASSERT_EQ(got.desc().shape, want.desc().shape);
    for (int64_t i = 0; i < want.count(); ++i) EXPECT_NEAR(got.At(i), want.At(i), 1e-3 * largest);
  }

  std::unique_ptr<Engine> engine_ = MakeEngine(2);
  int in_less_memory_ = 0;  // programs
};

TEST_F(RandomProgramsTest, HaveTheGradientsThatDifferencesHave) {
  for (int i = 0; i < NumPrograms(); ++i) {
    SCOPED_TRACE(i);
    Rng rng = testing::MakeRng(static_cast<uint64_t>(i));
    Check(rng);
    if (HasFailure()) return;
  }
  EXPECT_GT(in_less_memory_, NumPrograms() / 50);
}

}  // namespace
}  // namespace opserve
