// The tests' RmsNorm and RmsNormGrad.
#include "tests/ops/norm_calls.h"
#include "tests/ops/row_norm_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"

namespace opserve::testing::rms_norm {
namespace {

NormModel ModelOf(const TestTensor& x, const TestTensor& gamma) {
  NormModel model = RowsModel(x.desc().shape, gamma.desc().shape.size());
  model.centered = false;
  return model;
}

std::vector<Reference> ForwardReference(const OpCase& op_case) {
  const TestTensor& x = *op_case.inputs[0];
  const NormModel model = ModelOf(x, *op_case.inputs[1]);
  const NormMoments moments = MomentsOf(model, x);
  const Reference rstd = RstdOf(moments.variance, std::get<double>(op_case.attributes[0]));
  return {NormOutput(model, x, moments.mean, rstd, op_case.inputs[1], std::nullopt), rstd};
}

std::vector<Reference> BackwardReference(const OpCase& op_case) {
  const TestTensor& x = *op_case.inputs[1];
  const NormModel model = ModelOf(x, *op_case.inputs[3]);
  const std::vector<double> zeros(static_cast<size_t>(model.groups), 0.0);
  std::vector<Reference> gradients = NormGradients(model, *op_case.inputs[0], x, zeros,
                                                   op_case.inputs[2]->Values(), op_case.inputs[3]);
  gradients.pop_back();
  return gradients;
}

OpCase Forward(const RowNormShape& shape, DType dtype, int turn, Rng& rng) {
  const DType gamma = turn % 3 == 2 ? DType::kFloat32 : dtype;
  return CallOf("RmsNorm",
                {Shifted(TestTensor::Random(dtype, shape.all, rng), turn % 2),
                 TestTensor::Random(gamma, shape.Normalized(), rng)},
                {1e-6});
}

OpCase Backward(const RowNormShape& shape, DType dtype, int turn, Rng& rng) {
  const DType gamma = turn % 3 == 2 ? DType::kFloat32 : dtype;
  return CallOf(
      "RmsNormGrad",
      {TestTensor::Random(dtype, shape.all, rng), TestTensor::Random(dtype, shape.all, rng),
       Positive(DType::kFloat32, shape.Statistics(), rng),
       TestTensor::Random(gamma, shape.Normalized(), rng)},
      {});
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return RowNormCases(op.name == "RmsNorm" ? Forward : Backward, rng);
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const RowNormShape& shape : kMeasuredRows) {
    const OpCase forward = Forward(shape, dtype, 0, rng);
    cases.push_back(op.name == "RmsNorm" ? forward : NormGradientOf(forward, rng));
  }
  return cases;
}

OpCall LongCallOf(std::string_view op, int64_t rows, int64_t elements) {
  const TensorDesc data = Repeated(DType::kFloat32, {rows, elements});
  const TensorDesc gamma = Repeated(DType::kFloat32, {elements});
  if (op == "RmsNorm") return Draft(op, {data, gamma}, {});
  return Draft(op, {data, data, Repeated(DType::kFloat32, {rows, 1}), gamma}, {});
}

std::vector<LongCall> LongCalls(const Operator& op) {
  return RowNormLongCalls(
      [&op](int64_t rows, int64_t elements) { return LongCallOf(op.name, rows, elements); });
}

// As GroupNorm's.
GradientProblem MakeProblem(Rng& rng, int turn) {
  const RowNormShape shape = turn % 2 == 0 ? RowNormShape{{3, 18}, 1} : RowNormShape{{2, 4, 9}, 2};
  OpCase forward = Forward(shape, DType::kFloat32, 0, rng);
  forward.attributes[0] = 0.125;
  return NormProblem(forward, rng);
}

}  // namespace

// PyTorch 1.13 has no function of it; the goldens are composed of what later ones have.
extern const OperatorTest kRmsNormTest = {
    .reference = ForwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
};

extern const OperatorTest kRmsNormGradTest = {
    .reference = BackwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .gradient = {.problem = MakeProblem,
                 .tolerance = 1e-5,
                 .step = 0x1p-6,
                 .truncation = 8 * 0x1p-12},
};

}  // namespace opserve::testing::rms_norm
