// What an operator's Gradient says is enough to compute its gradients: every call here is made of
// the two schemas alone, and its results are the derivatives.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/cases.h"
#include "tests/support/gradient_values.h"
#include "tests/support/log_softmax.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Source = GradientInput::Source;

std::vector<const Operator*> OperatorsWithGradient() {
  std::vector<const Operator*> operators;
  for (const Operator* op : AllOperators()) {
    if (!op->gradient.op.empty()) operators.push_back(op);
  }
  return operators;
}

class GradientTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static const Operator& forward() { return *GetParam(); }
  static const Gradient& gradient() { return GetParam()->gradient; }
  static const Operator& backward() { return **FindOperator(GetParam()->gradient.op); }

  static const TensorParam* ParamOf(const GradientInput& input) {
    const int at = input.source == Source::kInput ? forward().FindInput(input.origin)
                                                  : forward().FindOutput(input.origin);
    const auto params = input.source == Source::kInput ? forward().inputs : forward().outputs;
    return at < 0 ? nullptr : &params[static_cast<size_t>(at)];
  }
};

INSTANTIATE_TEST_SUITE_P(Operators, GradientTest, ::testing::ValuesIn(OperatorsWithGradient()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(GradientTest, EveryInputHasOneSource) {
  ASSERT_THAT(FindOperator(gradient().op), IsOk());
  std::map<std::string_view, int> sources;
  for (const GradientInput& input : gradient().inputs) {
    SCOPED_TRACE(input.name);
    EXPECT_EQ(++sources[input.name], 1);
    const int at = backward().FindInput(input.name);
    const TensorParam* const origin = ParamOf(input);
    ASSERT_GE(at, 0);
    ASSERT_NE(origin, nullptr) << input.origin;
    const TensorParam& param = backward().inputs[static_cast<size_t>(at)];
    // An output that may be left out is there where the gradient is wanted.
    if (param.presence == Presence::kRequired && input.source != Source::kOutput) {
      EXPECT_EQ(origin->presence, Presence::kRequired);
    }
    for (int i = 0; i < kNumDTypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (origin->dtypes.Contains(dtype)) {
        EXPECT_TRUE(param.dtypes.Contains(dtype)) << DTypeName(dtype);
      }
    }
  }
  for (const TensorParam& param : backward().inputs) {
    if (param.presence == Presence::kOptional) continue;
    EXPECT_EQ(sources[param.name], 1) << param.name;
  }
  EXPECT_TRUE(std::any_of(
      gradient().inputs.begin(), gradient().inputs.end(),
      [](const GradientInput& input) { return input.source == Source::kOutputGradient; }));
}

TEST_P(GradientTest, EveryOutputIsTheGradientOfAnInput) {
  std::map<std::string_view, int> outputs;
  std::map<std::string_view, int> inputs;
  for (const GradientOutput& output : gradient().outputs) {
    EXPECT_GE(backward().FindOutput(output.name), 0) << output.name;
    EXPECT_GE(forward().FindInput(output.input), 0) << output.input;
    EXPECT_EQ(++outputs[output.name], 1) << output.name;
    EXPECT_EQ(++inputs[output.input], 1) << output.input;
  }
  EXPECT_EQ(outputs.size(), backward().outputs.size());
}

const GradientAttribute* OtherAttribute(const Gradient& gradient, std::string_view name) {
  const auto found = std::find_if(gradient.attributes.begin(), gradient.attributes.end(),
                                  [name](const auto& row) { return row.name == name; });
  return found == gradient.attributes.end() ? nullptr : &*found;
}

TEST_P(GradientTest, EveryAttributeIsKnown) {
  for (const GradientAttribute& attribute : gradient().attributes)
    EXPECT_GE(backward().FindAttribute(attribute.name), 0) << attribute.name;
  for (const AttributeParam& param : backward().attributes) {
    SCOPED_TRACE(param.name);
    const int same = forward().FindAttribute(param.name);
    if (param.name == gradient().output_mask) {
      EXPECT_LT(same, 0);
      EXPECT_EQ(param.kind, AttributeKind::kBoolList);
      EXPECT_EQ(static_cast<size_t>(param.list_length), backward().outputs.size());
    } else if (const GradientAttribute* const other = OtherAttribute(gradient(), param.name)) {
      const int origin = forward().FindAttribute(other->origin);
      if (other->origin.empty()) {
        AttributeValue value = other->value.ToValue();
        EXPECT_TRUE(ConvertAttribute(param.kind, value));
      } else {
        ASSERT_GE(origin, 0) << other->origin;
        EXPECT_EQ(param.kind, forward().attributes[static_cast<size_t>(origin)].kind);
      }
    } else if (same >= 0) {
      EXPECT_EQ(param.kind, forward().attributes[static_cast<size_t>(same)].kind);
    } else {
      EXPECT_NE(param.default_value.kind, AttributeDefault::Kind::kNone);
    }
  }
  if (!gradient().output_mask.empty()) {
    EXPECT_GE(backward().FindAttribute(gradient().output_mask), 0);
  }
}

// A call of the forward, what it gave, and the gradients that come in for its outputs.
struct Computed {
  OpCase call;
  std::vector<TestTensor> outputs;
  std::map<std::string_view, TestTensor> output_gradients;
};

std::optional<TestTensor> TensorFor(const GradientInput& input, const Computed& forward) {
  const Operator& op = *forward.call.op;
  switch (input.source) {
    case Source::kInput:
      return forward.call.inputs[static_cast<size_t>(op.FindInput(input.origin))];
    case Source::kOutput:
      return forward.outputs[static_cast<size_t>(op.FindOutput(input.origin))];
    case Source::kOutputGradient:
      return forward.output_gradients.at(input.origin);
  }
  return std::nullopt;
}

// Which outputs of the gradient's operator are gradients of inputs that the forward was given.
std::vector<bool> MaskFor(const Operator& backward, const OpCase& forward) {
  std::vector<bool> mask(backward.outputs.size(), false);
  for (const GradientOutput& output : forward.op->gradient.outputs) {
    const int input = forward.op->FindInput(output.input);
    mask[static_cast<size_t>(backward.FindOutput(output.name))] =
        forward.inputs[static_cast<size_t>(input)].has_value();
  }
  return mask;
}

AttributeValue AttributeFor(const AttributeParam& param, const Operator& backward,
                            const OpCase& forward) {
  if (param.name == forward.op->gradient.output_mask) return MaskFor(backward, forward);
  return GradientAttributeOf(forward, param);
}

OpCase BackwardOf(const Computed& forward) {
  const Gradient& gradient = forward.call.op->gradient;
  OpCase backward;
  backward.op = *FindOperator(gradient.op);
  backward.label = "from the schema";
  backward.inputs.resize(backward.op->inputs.size());
  for (const GradientInput& input : gradient.inputs) {
    backward.inputs[static_cast<size_t>(backward.op->FindInput(input.name))] =
        TensorFor(input, forward);
  }
  for (const AttributeParam& param : backward.op->attributes)
    backward.attributes.push_back(AttributeFor(param, *backward.op, forward.call));
  return backward;
}

// The values at which derivatives are taken, as an input of the forward: CtcLoss's gradient is that
// of the logits, which a log_softmax makes log_probs.
TestTensor AsInput(const Operator& op, std::string_view input, const TestTensor& values) {
  if (op.name != "CtcLoss" || input != "log_probs") return values;
  return LogSoftmax(DType::kFloat64, values.desc().shape, values.Values());
}

// The call in float64, for the reference.
OpCase Exactly(const OpCase& op_case) {
  OpCase exact = op_case;
  exact.output_dtypes.clear();
  for (size_t i = 0; i < exact.inputs.size(); ++i) {
    std::optional<TestTensor>& input = exact.inputs[i];
    if (input.has_value() && IsFloating(input->desc().dtype))
      input = AsInput(*exact.op, exact.op->inputs[i].name, As(DType::kFloat64, *input));
  }
  return exact;
}

// The sum of `values`, of shape `from`, over the dimensions along which `to` was broadcast to it.
std::vector<double> SumTo(const Dims& to, const Dims& from, const std::vector<double>& values) {
  Dims strides(from.size(), 0);
  int64_t stride = 1;
  for (size_t i = 1; i <= to.size(); ++i) {
    const int64_t extent = to[to.size() - i];
    if (extent != 1) strides[from.size() - i] = stride;
    stride *= extent;
  }
  std::vector<double> sums(static_cast<size_t>(stride), 0);
  size_t next = 0;
  ForEachOffset(from, strides,
                [&](int64_t offset) { sums[static_cast<size_t>(offset)] += values[next++]; });
  return sums;
}

// Σ gradient · output over the outputs that have one, and of the terms' magnitudes.
struct Loss {
  double sum = 0;
  double magnitude = 0;
};

Loss LossOf(const OpCase& call, const std::map<std::string_view, TestTensor>& output_gradients) {
  const std::vector<Reference> outputs = ReferenceOf(call);
  Loss loss;
  for (const auto& [name, gradient] : output_gradients) {
    const Reference& output = outputs[static_cast<size_t>(call.op->FindOutput(name))];
    for (size_t i = 0; i < output.values.size(); ++i) {
      const double term = gradient.At(static_cast<int64_t>(i)) * output.values[i];
      loss.sum += term;
      loss.magnitude += std::fabs(term);
    }
  }
  return loss;
}

// A central difference, and how far it may be off.
struct Difference {
  double value;
  double error;
};

// By two steps: where their slopes disagree, or their second differences, the loss has a bend or is
// far from a parabola between them. The slopes tell of a bend far from the middle, the others of
// one that is near.
Difference Differentiate(const Computed& forward, size_t input, size_t element) {
  const OpCase& call = forward.call;
  const auto loss_at = [&](double shift) {
    OpCase moved = call;
    std::vector<double> values = call.inputs[input]->Values();
    values[element] += shift;
    moved.inputs[input] =
        AsInput(*call.op, call.op->inputs[input].name,
                TestTensor::Of(DType::kFloat64, call.inputs[input]->desc().shape, values));
    return LossOf(moved, forward.output_gradients);
  };
  const Loss middle = loss_at(0);
  const auto rise = [&](double shift) {
    return (loss_at(shift).sum - middle.sum) / std::fabs(shift);
  };
  const double step = 0x1p-17;
  const double right = rise(step), left = rise(-step);
  const double near_right = rise(step / 2), near_left = rise(-step / 2);
  const double slope = (near_right - near_left) / 2;
  const double rounding = 0x1p-48 * middle.magnitude / step;
  return {slope, rounding + 4 * std::fabs((right - left) / 2 - slope) +
                     std::fabs(right + left - 2 * (near_right + near_left))};
}

bool IsFinite(const TestTensor& tensor) {
  const std::vector<double> values = tensor.Values();
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

class GradientValuesTest : public GradientTest {
 protected:
  static constexpr int64_t kMostElements = 5000;
  static constexpr size_t kMostCases = 24;
  static constexpr size_t kElementsOfCase = 4;

  // Small calls that lose nothing to rounding.
  static std::vector<OpCase> SomeCases() {
    std::vector<OpCase> small;
    for (const OpCase& op_case : CasesOf(*GetParam())) {
      const auto is_fit = [](const std::optional<TestTensor>& input) {
        if (!input.has_value()) return true;
        const DType dtype = input->desc().dtype;
        return input->count() <= kMostElements && dtype != DType::kFloat16 &&
               dtype != DType::kBFloat16;
      };
      const bool fits = std::all_of(op_case.inputs.begin(), op_case.inputs.end(), is_fit);
      if (fits && IsFloating(op_case.inputs[0]->desc().dtype)) small.push_back(op_case);
    }
    std::vector<OpCase> some;
    const size_t stride = small.size() / kMostCases + 1;
    for (size_t i = 0; i < small.size(); i += stride) some.push_back(small[i]);
    EXPECT_FALSE(some.empty());
    return some;
  }

  // Runs the forward on the engine; the gradients that come in are random. nullopt where a result
  // that has one is infinite or NaN, or of too many elements.
  std::optional<Computed> Run(const OpCase& op_case) {
    absl::StatusOr<std::vector<TestTensor>> outputs = testing::Run(*engine_, op_case);
    EXPECT_THAT(outputs, IsOk());
    if (!outputs.ok()) return std::nullopt;
    Computed forward = {op_case, *std::move(outputs), {}};
    for (const GradientInput& input : gradient().inputs) {
      if (input.source != Source::kOutputGradient) continue;
      const TestTensor& output =
          forward.outputs[static_cast<size_t>(op_case.op->FindOutput(input.origin))];
      if (!IsFinite(output) || output.count() > kMostElements) return std::nullopt;
      const TensorDesc& desc = output.desc();
      forward.output_gradients.emplace(input.origin,
                                       TestTensor::Random(desc.dtype, desc.shape, rng_));
    }
    return forward;
  }

  static Computed Exact(const Computed& computed) {
    Computed exact = {Exactly(computed.call), {}, {}};
    const std::vector<Reference> outputs = ReferenceOf(exact.call);
    for (size_t i = 0; i < outputs.size(); ++i) {
      exact.outputs.push_back(
          TestTensor::Of(DType::kFloat64, computed.outputs[i].desc().shape, outputs[i].values));
    }
    for (const auto& [name, tensor] : computed.output_gradients)
      exact.output_gradients.emplace(name, As(DType::kFloat64, tensor));
    return exact;
  }

  void ExpectDerivatives(const Computed& computed) {
    const absl::StatusOr<std::vector<TestTensor>> results =
        testing::Run(*engine_, BackwardOf(computed));
    ASSERT_THAT(results, IsOk());
    const Computed exact = Exact(computed);
    const std::vector<Reference> references = ReferenceOf(BackwardOf(exact));
    for (const GradientOutput& output : gradient().outputs) {
      const auto input = static_cast<size_t>(forward().FindInput(output.input));
      if (!exact.call.inputs[input].has_value()) continue;
      SCOPED_TRACE(output.name);
      const auto at = static_cast<size_t>(backward().FindOutput(output.name));
      const std::vector<double> sums = SumTo(exact.call.inputs[input]->desc().shape,
                                             (*results)[at].desc().shape, references[at].values);
      ExpectDerivatives(exact, input, sums);
    }
  }

  void ExpectDerivatives(const Computed& exact, size_t input, const std::vector<double>& gradient) {
    for (size_t i = 0; i < std::min(gradient.size(), kElementsOfCase); ++i) {
      const size_t element = rng_() % gradient.size();
      const Difference difference = Differentiate(exact, input, element);
      const double rounding = 1e-6 * (1 + std::fabs(gradient[element]));
      EXPECT_NEAR(gradient[element], difference.value, rounding + difference.error)
          << "element " << element;
      ++compared_;
      if (difference.error <= 1e-3 * (1 + std::fabs(gradient[element]))) ++sharply_;
    }
  }

  const std::unique_ptr<Engine> engine_ = MakeEngine(1);
  Rng rng_ = MakeRng(std::hash<std::string_view>()(GetParam()->name) + 1);
  int compared_ = 0;
  int sharply_ = 0;  // of those, with differences that say much
};

INSTANTIATE_TEST_SUITE_P(Operators, GradientValuesTest,
                         ::testing::ValuesIn(OperatorsWithGradient()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(GradientValuesTest, AreTheDerivatives) {
  for (const OpCase& op_case : SomeCases()) {
    SCOPED_TRACE(op_case.label);
    const std::optional<Computed> computed = Run(op_case);
    if (computed.has_value()) ExpectDerivatives(*computed);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared_, 20);
  EXPECT_GT(sharply_, compared_ * 3 / 4);
}

TEST(GradientRowsTest, EveryBackwardOperatorIsAGradient) {
  for (const Operator* op : AllOperators()) {
    // A schema names one operator for its gradients; the one for a target stands beside it,
    // unnamed. Nor can it say that an attribute is the shape of an input.
    if (!op->name.ends_with("Backward") || op->name.ends_with("TargetBackward")) continue;
    // They take an extent, or all, of an input of the forward, which no row of a Gradient names.
    if (op->name == "EmbeddingDenseBackward" || op->FindAttribute("input_size") >= 0) continue;
    const auto forwards =
        std::count_if(AllOperators().begin(), AllOperators().end(),
                      [op](const Operator* forward) { return forward->gradient.op == op->name; });
    EXPECT_GE(forwards, 1) << op->name;
    EXPECT_TRUE(op->gradient.op.empty()) << op->name;
  }
}

}  // namespace
}  // namespace opserve::testing
