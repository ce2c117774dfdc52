// The tests' Prelu and PreluBackward.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/ops/activation_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_problem.h"

namespace opserve::testing::prelu {
namespace {

struct Shapes {
  Dims self;
  Dims weight;
};

// The number of the weight of each element, in order.
std::vector<size_t> WeightsOf(const TestTensor& self, const TestTensor& weight) {
  const Dims& shape = self.desc().shape;
  std::vector<size_t> numbers(static_cast<size_t>(self.count()), 0);
  if (weight.count() <= 1) return numbers;
  int64_t inner = 1;
  for (size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i / static_cast<size_t>(inner) % static_cast<size_t>(shape[1]);
  return numbers;
}

std::vector<Reference> Forward(const OpCase& c) {
  const std::vector<double> x = c.inputs[0]->Values();
  const std::vector<double> w = c.inputs[1]->Values();
  const std::vector<size_t> numbers = WeightsOf(*c.inputs[0], *c.inputs[1]);
  std::vector<double> out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] > 0 ? x[i] : w[numbers[i]] * x[i]);
  return ExactReference(out);
}

std::vector<Reference> Backward(const OpCase& c) {
  const std::vector<double> g = c.inputs[0]->Values();
  const std::vector<double> x = c.inputs[1]->Values();
  const std::vector<double> w = c.inputs[2]->Values();
  const std::vector<size_t> numbers = WeightsOf(*c.inputs[1], *c.inputs[2]);
  std::vector<double> grad_input;
  Reference sums = {std::vector<double>(w.size()), std::vector<double>(w.size())};
  for (size_t i = 0; i < x.size(); ++i) {
    grad_input.push_back(x[i] > 0 ? g[i] : w[numbers[i]] * g[i]);
    if (x[i] > 0) continue;
    sums.values[numbers[i]] += g[i] * x[i];
    sums.magnitudes[numbers[i]] += std::fabs(g[i] * x[i]);
  }
  return {ExactReference(grad_input)[0], sums};
}

OpCase CaseOf(const Operator& op, const Shapes& shapes, const std::vector<DType>& dtypes,
              Rng& rng) {
  OpCase op_case;
  op_case.op = &op;
  op_case.label = absl::StrCat(ShapeToString(shapes.self), "/", ShapeToString(shapes.weight), "/");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const DType dtype = dtypes[i % dtypes.size()];
    const bool is_weight = i + 1 == op.inputs.size();
    op_case.inputs.push_back(
        TestTensor::Random(dtype, is_weight ? shapes.weight : shapes.self, rng));
    absl::StrAppend(&op_case.label, std::string(DTypeShortName(dtype)));
  }
  return op_case;
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  const std::vector<Shapes> all = {{{4, 2}, {2}},
                                   {{}, {}},
                                   {{}, {1}},
                                   {{7}, {1}},
                                   {{3, 5, 7}, {5}},
                                   {{3, 5, 7}, {}},
                                   {{2, 1, 3, 1, 2, 1, 2, 5}, {1}},
                                   {{2, 3, 1, 2, 1, 2, 2, 2}, {3}},
                                   {{300, 40}, {40}},
                                   {{2, 3, 20000}, {3}},
                                   {{70001}, {1}},
                                   {{2, 700, 1}, {700}},
                                   {{0, 3}, {3}},
                                   {{3, 0, 2}, {0}},
                                   {{0}, {1}}};
  const std::vector<std::vector<DType>> dtypes = {{DType::kFloat32},
                                                  {DType::kFloat16},
                                                  {DType::kBFloat16},
                                                  {DType::kBFloat16, DType::kFloat16},
                                                  {DType::kFloat16, DType::kFloat32}};
  std::vector<OpCase> cases;
  for (const Shapes& shapes : all) {
    for (const std::vector<DType>& types : {dtypes[0], dtypes[cases.size() / 2 % dtypes.size()]})
      cases.push_back(CaseOf(op, shapes, types, rng));
  }
  for (const std::vector<DType>& types : dtypes) cases.push_back(CaseOf(op, all[4], types, rng));
  cases.push_back(CaseOf(op, all[4], dtypes[1], rng));
  cases.back().output_dtypes.assign(op.outputs.size(), DType::kFloat32);
  if (op.outputs.size() > 1) return cases;
  // Sums of a gradient would overflow.
  cases.push_back(CaseOf(op, {{37, 5, 11}, {5}}, dtypes[0], rng));
  cases.back().inputs[0] = TestTensor::OfAllMagnitudes(DType::kFloat32, {37, 5, 11}, rng);
  return cases;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Shapes& shapes : std::vector<Shapes>{
           {{4, 2}, {2}}, {{8}, {1}}, {{1, 4, 2}, {4}}, {{20, 30, 40}, {30}}, {{50, 1000}, {1}}}) {
    cases.push_back(CaseOf(op, shapes, {dtype}, rng));
    cases.back().label = shapes.weight[0] == 1 ? "one weight" : "channels";
  }
  return cases;
}

std::vector<LongCall> LongCalls(const Operator& op) {
  const auto call = [&op](std::string label, DType dtype, const Shapes& shapes) {
    std::vector<TensorDesc> inputs(op.inputs.size(), Repeated(dtype, shapes.self));
    inputs.back() = Repeated(dtype, shapes.weight);
    return Planned(std::move(label), Draft(op.name, inputs, {}));
  };
  constexpr int64_t kHuge = int64_t{1} << 42;
  return {call("elements", DType::kFloat32, {{kHuge}, {1}}),
          call("batches", DType::kFloat16, {{kHuge, 3}, {3}}),
          call("channels", DType::kFloat32, {{2, kHuge}, {kHuge}}),
          call("area", DType::kBFloat16, {{2, 3, kHuge}, {3}})};
}

}  // namespace

extern const OperatorTest kPreluTest = {
    .reference = Forward,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 1,
    .aten = "prelu(self, weight)",
};

extern const OperatorTest kPreluBackwardTest = {
    .reference = Backward,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .ulps = 3,
    .gradient = Straight([](Rng& rng, int turn) {
      const int64_t weights = turn % 2 == 0 ? 5 : 1;
      const TestTensor self = TestTensor::Of(DType::kFloat32, {4, 5, 2}, AwayFrom({0}, 40, rng));
      return ProblemOf(CallOf("Prelu", {self, Normal({weights}, rng)}, {}), rng);
    }),
};

}  // namespace opserve::testing::prelu
