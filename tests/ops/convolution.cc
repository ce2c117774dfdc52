// The tests' Convolution and ConvolutionBackward.
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/ops/convolution_problems.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"

namespace opserve::testing::convolution {
namespace {

std::vector<AttributeValue> ForwardAttributes(const ConvolutionProblem& p, int turn) {
  return {p.stride,         p.padding, p.dilation,       p.transposed,
          p.output_padding, p.groups,  int64_t{turn % 4}};
}

std::vector<AttributeValue> BackwardAttributes(const ConvolutionProblem& p, int turn) {
  const int64_t channels = p.transposed ? p.weight[1] * p.groups : p.weight[0];
  const Ints sizes = turn % 2 == 0 ? Ints{channels} : Ints{};
  const std::vector<bool> mask = {turn % 8 != 1 && turn % 8 != 3, turn % 8 != 2 && turn % 8 != 3,
                                  turn % 8 != 4};
  std::vector<AttributeValue> attributes = ForwardAttributes(p, turn);
  attributes.insert(attributes.begin(), sizes);
  attributes.insert(attributes.begin() + 7, mask);
  return attributes;
}

int64_t EntryOf(const Ints& list, size_t dim) { return list.size() == 1 ? list[0] : list[dim]; }

Dims ResultShapeOf(const ConvolutionProblem& p) {
  Dims shape = {p.input[0], p.transposed ? p.weight[1] * p.groups : p.weight[0]};
  for (size_t i = 0; i + 2 < p.input.size(); ++i) {
    const int64_t span = EntryOf(p.dilation, i) * (p.weight[i + 2] - 1) + 1;
    const int64_t stride = EntryOf(p.stride, i);
    const int64_t padding = 2 * EntryOf(p.padding, i);
    shape.push_back(p.transposed ? (p.input[i + 2] - 1) * stride - padding + span +
                                       EntryOf(p.output_padding, i)
                                 : (p.input[i + 2] + padding - span) / stride + 1);
  }
  return shape;
}

OpCase ProblemCase(const Operator& op, const ConvolutionProblem& p, DType dtype, int turn,
                   Rng& rng) {
  OpCase result;
  result.op = &op;
  result.label = absl::StrCat(ShapeToString(p.input), "*", ShapeToString(p.weight), "/",
                              std::string(DTypeShortName(dtype)), "/", turn);
  const Dims out = ResultShapeOf(p);
  const TestTensor input = TestTensor::Random(dtype, p.input, rng);
  const TestTensor weight = TestTensor::Random(dtype, p.weight, rng);
  if (op.name == "Convolution") {
    result.inputs = {input, weight, std::nullopt};
    if (turn % 2 == 0) result.inputs[2] = TestTensor::Random(dtype, {out[1]}, rng);
    result.attributes = ForwardAttributes(p, turn);
  } else {
    result.inputs = {TestTensor::Random(dtype, out, rng), input, weight};
    result.attributes = BackwardAttributes(p, turn);
  }
  return result;
}

std::vector<OpCase> ConvolutionCases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  int turn = 0;
  for (const ConvolutionProblem& problem : kConvolutionProblems) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
      cases.push_back(ProblemCase(op, problem, dtype, turn++, rng));
    cases.push_back(ProblemCase(op, problem, DType::kFloat32, turn++, rng));
  }
  // Of several dtypes.
  cases.push_back(ProblemCase(op, kConvolutionProblems[2], DType::kFloat32, 0, rng));
  cases.back().inputs[1] = As(DType::kBFloat16, *cases.back().inputs[1]);
  return cases;
}

// With lists of an entry for each dimension, as some versions of PyTorch want them.
ConvolutionProblem Spelled(ConvolutionProblem p) {
  for (Ints* list : {&p.stride, &p.padding, &p.dilation, &p.output_padding})
    list->resize(p.input.size() - 2, (*list)[0]);
  return p;
}

// The small ones are goldens, too.
std::vector<OpCase> ConvolutionAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const ConvolutionProblem problems[] = {
      {.input = {1, 2, 2, 2}, .weight = {2, 2, 2, 2}, .padding = {1}, .dilation = {2}},
      {.input = {1, 4, 2}, .weight = {4, 2, 2}, .stride = {2}, .padding = {1}, .groups = 2},
      {.input = {1, 2, 2, 2},
       .weight = {2, 1, 2, 2},
       .padding = {1},
       .transposed = true,
       .groups = 2},
      {.input = {2, 64, 14, 14}, .weight = {64, 64, 3, 3}, .padding = {1}},
      {.input = {2, 32, 14, 14}, .weight = {32, 1, 3, 3}, .padding = {1}, .groups = 32},
      {.input = {1, 32, 7, 7}, .weight = {32, 16, 3, 3}, .stride = {2}, .transposed = true},
  };
  std::vector<OpCase> cases;
  for (const ConvolutionProblem& problem : problems) {
    cases.push_back(ProblemCase(op, Spelled(problem), dtype, 0, rng));
    const bool small = NumElements(problem.input).value_or(0) == 8;
    cases.back().label = absl::StrCat(small ? "small" : ShapeToString(problem.input),
                                      problem.transposed ? " transposed" : "");
  }
  // Goldens are of calls whose first input has eight elements.
  if (op.name == "ConvolutionBackward") {
    const ConvolutionProblem more[] = {
        {.input = {1, 2, 4, 3}, .weight = {2, 2, 3, 2}},
        {.input = {1, 2, 3}, .weight = {2, 2, 2}, .transposed = true},
    };
    for (const ConvolutionProblem& problem : more) {
      cases.push_back(ProblemCase(op, Spelled(problem), dtype, 0, rng));
      cases.back().label = "small";
    }
  }
  return cases;
}

struct Term {
  int64_t x;  // of the tensor that kernels slide over, y of that of their positions
  int64_t y;
  int64_t w;
};

// What a problem's tensors are, in the order of their roles: x, y, w.
struct Roles {
  Dims x, y, w;
};

// A dimension's element of x that place `k` of the kernel meets at position `p`; -1 = none.
int64_t Met(const ConvolutionProblem& problem, const Roles& roles, size_t dim, int64_t p,
            int64_t k) {
  const int64_t x = p * EntryOf(problem.stride, dim) - EntryOf(problem.padding, dim) +
                    k * EntryOf(problem.dilation, dim);
  return x >= 0 && x < roles.x[dim + 2] ? x : -1;
}

// Calls visit(Term) for every product of the convolution.
template <typename Visit>
void ForEachTerm(const ConvolutionProblem& problem, const Roles& roles, const Visit& visit) {
  const int64_t x_channels = roles.w[1];
  const int64_t y_channels = roles.w[0] / problem.groups;
  const Dims places(roles.w.begin() + 2, roles.w.end());
  const int64_t area = NumElements(places).value_or(0);
  const int64_t y_count = NumElements(roles.y).value_or(0);
  for (int64_t y = 0; y < y_count; ++y) {
    Dims at(roles.y.size());
    int64_t rest = y;
    for (size_t i = at.size(); i > 0; --i) {
      at[i - 1] = rest % roles.y[i - 1];
      rest /= roles.y[i - 1];
    }
    const int64_t group = at[1] / y_channels;
    for (int64_t k = 0; k < area; ++k) {
      int64_t offset = 0;
      int64_t plane = 1;
      rest = k;
      bool inside = true;
      for (size_t dim = places.size(); dim > 0; --dim) {
        const int64_t x = Met(problem, roles, dim - 1, at[dim + 1], rest % places[dim - 1]);
        rest /= places[dim - 1];
        inside = inside && x >= 0;
        offset += x * plane;
        plane *= roles.x[dim + 1];
      }
      for (int64_t c = 0; c < x_channels && inside; ++c) {
        const int64_t channel = at[0] * roles.x[1] + group * x_channels + c;
        visit(Term{channel * plane + offset, y, (at[1] * x_channels + c) * area + k});
      }
    }
  }
}

// Of the attributes from `first` on.
ConvolutionProblem ProblemOf(const OpCase& c, size_t first) {
  const auto ints = [&](size_t i) { return std::get<Ints>(c.attributes[first + i]); };
  return {.stride = ints(0),
          .padding = ints(1),
          .dilation = ints(2),
          .transposed = std::get<bool>(c.attributes[first + 3]),
          .output_padding = ints(4),
          .groups = std::get<int64_t>(c.attributes[first + 5])};
}

Reference ZerosOf(const Dims& shape) {
  const std::vector<double> zeros(static_cast<size_t>(NumElements(shape).value_or(0)), 0.0);
  return {zeros, zeros};
}

void AddTerm(Reference& to, int64_t at, double term) {
  to.values[static_cast<size_t>(at)] += term;
  to.magnitudes[static_cast<size_t>(at)] += std::fabs(term);
}

std::vector<Reference> ConvolutionReference(const OpCase& c) {
  ConvolutionProblem problem = ProblemOf(c, 0);
  problem.input = c.inputs[0]->desc().shape;
  problem.weight = c.inputs[1]->desc().shape;
  const Dims out = ResultShapeOf(problem);
  const Roles roles = {problem.transposed ? out : problem.input,
                       problem.transposed ? problem.input : out, problem.weight};
  const std::vector<double> input = c.inputs[0]->Values();
  const std::vector<double> weight = c.inputs[1]->Values();
  std::vector<Reference> result = {ZerosOf(out)};
  ForEachTerm(problem, roles, [&](const Term& term) {
    const auto from = static_cast<size_t>(problem.transposed ? term.y : term.x);
    AddTerm(result[0], problem.transposed ? term.x : term.y,
            input[from] * weight[static_cast<size_t>(term.w)]);
  });
  if (!c.inputs[2].has_value()) return result;
  const auto count = static_cast<int64_t>(result[0].values.size());
  const int64_t area = count == 0 ? 1 : count / (out[0] * out[1]);
  for (int64_t i = 0; i < count; ++i) AddTerm(result[0], i, c.inputs[2]->At(i / area % out[1]));
  return result;
}

std::vector<Reference> ConvolutionBackwardReference(const OpCase& c) {
  const ConvolutionProblem problem = ProblemOf(c, 1);
  const Dims& out = c.inputs[0]->desc().shape;
  const Dims& in = c.inputs[1]->desc().shape;
  const Roles roles = {problem.transposed ? out : in, problem.transposed ? in : out,
                       c.inputs[2]->desc().shape};
  const std::vector<double> grad = c.inputs[0]->Values();
  const std::vector<double> input = c.inputs[1]->Values();
  const std::vector<double> weight = c.inputs[2]->Values();
  std::vector<Reference> results = {ZerosOf(in), ZerosOf(roles.w), ZerosOf({out[1]})};
  ForEachTerm(problem, roles, [&](const Term& term) {
    const int64_t of_out = problem.transposed ? term.x : term.y;
    const int64_t of_in = problem.transposed ? term.y : term.x;
    const double g = grad[static_cast<size_t>(of_out)];
    AddTerm(results[0], of_in, g * weight[static_cast<size_t>(term.w)]);
    AddTerm(results[1], term.w, g * input[static_cast<size_t>(of_in)]);
  });
  const auto count = static_cast<int64_t>(grad.size());
  const int64_t area = count == 0 ? 1 : count / (out[0] * out[1]);
  for (int64_t i = 0; i < count; ++i)
    AddTerm(results[2], i / area % out[1], grad[static_cast<size_t>(i)]);
  const auto& mask = std::get<std::vector<bool>>(c.attributes[7]);
  for (size_t i = 0; i < 3; ++i) {
    if (!mask[i]) results[i] = {};
  }
  return results;
}

LongCall LongConvolution(const Operator& op, std::string label, const ConvolutionProblem& p) {
  const TensorDesc input = Repeated(DType::kFloat32, p.input);
  const TensorDesc weight = Repeated(DType::kFloat32, p.weight);
  if (op.name == "Convolution") {
    OpCall call = Draft(op.name, {input, weight}, ForwardAttributes(p, 0));
    return Planned(std::move(label), std::move(call));
  }
  const TensorDesc grad = Repeated(DType::kFloat32, ResultShapeOf(p));
  return Planned(std::move(label), Draft(op.name, {grad, input, weight}, BackwardAttributes(p, 0)));
}

std::vector<LongCall> ConvolutionLongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 37;
  return {
      LongConvolution(op, "batch", {.input = {kHuge, 2, 3}, .weight = {2, 2, 2}}),
      LongConvolution(op, "channels", {.input = {1, kHuge, 3}, .weight = {2, kHuge, 2}}),
      LongConvolution(op, "kernels", {.input = {2, 2, 3}, .weight = {kHuge, 2, 2}}),
      LongConvolution(op, "groups",
                      {.input = {1, kHuge, 3}, .weight = {kHuge, 1, 2}, .groups = kHuge}),
      LongConvolution(op, "places", {.input = {1, 1, kHuge}, .weight = {1, 1, kHuge - 1}}),
      LongConvolution(op, "padding", {.input = {1, 1, 1}, .weight = {2, 1, 1}, .padding = {kHuge}}),
      LongConvolution(
          op, "spread",
          {.input = {1, 1, 2, 1}, .weight = {1, 2, 1, 1}, .stride = {kHuge}, .transposed = true}),
      LongConvolution(
          op, "large",
          {.input = {64, 4096, 1 << 10, 1 << 10}, .weight = {4096, 4096, 3, 3}, .padding = {1}}),
  };
}

// Small: differences of sums of products show all that there is.
GradientProblem ConvolutionGradient(Rng& rng, int turn) {
  const ConvolutionProblem problems[] = {
      {.input = {2, 2, 5, 4},
       .weight = {4, 1, 3, 2},
       .stride = {2, 1},
       .padding = {1},
       .groups = 2},
      {.input = {2, 3, 4},
       .weight = {3, 2, 3},
       .stride = {2},
       .transposed = true,
       .output_padding = {1}},
  };
  const ConvolutionProblem& p = problems[turn % 2];
  const Dims out = ResultShapeOf(p);
  const TestTensor grad = Normal(out, rng);
  const std::vector<TestTensor> variables = {Normal(p.input, rng), Normal(p.weight, rng),
                                             Normal({out[1]}, rng)};
  GradientProblem problem;
  for (const TestTensor& variable : variables) problem.variables.push_back(variable.Values());
  problem.weights = grad.Values();
  const std::vector<AttributeValue> attributes = ForwardAttributes(p, 0);
  problem.forward = [=](size_t variable, const std::vector<double>& values, DType dtype) {
    OpCase forward;
    forward.op = *FindOperator("Convolution");
    forward.attributes = attributes;
    for (size_t i = 0; i < variables.size(); ++i) {
      forward.inputs.emplace_back(i == variable
                                      ? TestTensor::Of(dtype, variables[i].desc().shape, values)
                                      : As(dtype, variables[i]));
    }
    return forward;
  };
  problem.backward.op = *FindOperator("ConvolutionBackward");
  problem.backward.inputs = {grad, variables[0], variables[1]};
  problem.backward.attributes = BackwardAttributes(p, 0);
  return problem;
}

}  // namespace

extern const OperatorTest kConvolutionTest = {
    .reference = ConvolutionReference,
    .cases = ConvolutionCases,
    .accuracy_cases = ConvolutionAccuracyCases,
    .long_calls = ConvolutionLongCalls,
    .ulps = 8,
    .aten =
        "convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, "
        "groups)",
};

extern const OperatorTest kConvolutionBackwardTest = {
    .reference = ConvolutionBackwardReference,
    .cases = ConvolutionCases,
    .accuracy_cases = ConvolutionAccuracyCases,
    .long_calls = ConvolutionLongCalls,
    .ulps = 12,  // hundreds of terms of one sign, added to a weight one after the other
    .aten =
        "convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, "
        "transposed, output_padding, groups, output_mask)",
    .gradient = {.problem = ConvolutionGradient, .tolerance = 1e-5, .step = 0x1p-4},
};

}  // namespace opserve::testing::convolution
