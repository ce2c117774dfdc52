// The tests' LayerNorm and LayerNormBackward.
#include "absl/strings/str_cat.h"
#include "tests/ops/norm_calls.h"
#include "tests/ops/row_norm_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"

namespace opserve::testing::layer_norm {
namespace {

const std::vector<int64_t>& NormalizedShape(const OpCase& op_case) {
  return std::get<std::vector<int64_t>>(op_case.attributes[0]);
}

std::vector<Reference> ForwardReference(const OpCase& op_case) {
  const TestTensor& input = *op_case.inputs[0];
  const NormModel model = RowsModel(input.desc().shape, NormalizedShape(op_case).size());
  const NormMoments moments = MomentsOf(model, input);
  const Reference rstd = RstdOf(moments.variance, std::get<double>(op_case.attributes[1]));
  return {NormOutput(model, input, moments.mean, rstd, op_case.inputs[1], op_case.inputs[2]),
          moments.mean, rstd};
}

std::vector<Reference> BackwardReference(const OpCase& op_case) {
  const TestTensor& input = *op_case.inputs[1];
  const NormModel model = RowsModel(input.desc().shape, NormalizedShape(op_case).size());
  std::vector<Reference> gradients =
      NormGradients(model, *op_case.inputs[0], input, op_case.inputs[2]->Values(),
                    op_case.inputs[3]->Values(), op_case.inputs[4]);
  const auto& mask = std::get<std::vector<bool>>(op_case.attributes[1]);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) gradients[i] = Nothing();
  }
  return gradients;
}

std::optional<TestTensor> Parameter(bool present, DType dtype, const Dims& shape, Rng& rng) {
  if (!present) return std::nullopt;
  return TestTensor::Random(dtype, shape, rng);
}

OpCase Forward(const RowNormShape& shape, DType dtype, int turn, Rng& rng) {
  const DType parameters = turn % 3 == 2 ? DType::kFloat32 : dtype;
  OpCase op_case = CallOf("LayerNorm",
                          // Away from zero: a one-pass variance would cancel.
                          {Shifted(TestTensor::Random(dtype, shape.all, rng), 3),
                           Parameter(turn % 4 != 1, parameters, shape.Normalized(), rng),
                           Parameter(turn % 4 != 3, parameters, shape.Normalized(), rng)},
                          {shape.NormalizedList(), 1e-5});
  if (turn % 5 == 4) op_case.output_dtypes = {dtype, DType::kFloat32, DType::kFloat32};
  return op_case;
}

OpCase Backward(const RowNormShape& shape, DType dtype, int turn, Rng& rng) {
  const DType parameters = turn % 3 == 2 ? DType::kFloat32 : dtype;
  const DType statistics = turn % 5 == 4 ? DType::kFloat32 : dtype;
  const Dims rows = shape.Statistics();
  const std::vector<bool> mask = {turn % 8 != 1 && turn % 8 != 3, turn % 8 != 2 && turn % 8 != 3,
                                  turn % 8 != 4};
  return CallOf(
      "LayerNormBackward",
      {TestTensor::Random(dtype, shape.all, rng), TestTensor::Random(dtype, shape.all, rng),
       TestTensor::Random(statistics, rows, rng), Positive(statistics, rows, rng),
       Parameter(turn % 4 != 1, parameters, shape.Normalized(), rng),
       Parameter(turn % 4 == 0, parameters, shape.Normalized(), rng)},
      {shape.NormalizedList(), mask});
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  return RowNormCases(op.name == "LayerNorm" ? Forward : Backward, rng);
}

OpCase Measured(const RowNormShape& shape, double mean, DType dtype, Rng& rng) {
  return CallOf("LayerNorm",
                {Shifted(TestTensor::Random(dtype, shape.all, rng), mean),
                 TestTensor::Random(dtype, shape.Normalized(), rng),
                 TestTensor::Random(dtype, shape.Normalized(), rng)},
                {shape.NormalizedList(), 1e-5});
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  std::vector<OpCase> cases;
  for (const double mean : {0.0, 10.0}) {
    for (const RowNormShape& shape : kMeasuredRows) {
      const OpCase forward = Measured(shape, mean, dtype, rng);
      cases.push_back(op.name == "LayerNorm" ? forward : NormGradientOf(forward, rng));
      cases.back().label = absl::StrCat("mean ", mean);
    }
  }
  return cases;
}

OpCall LongCallOf(std::string_view op, int64_t rows, int64_t elements) {
  const TensorDesc data = Repeated(DType::kFloat32, {rows, elements});
  const TensorDesc parameter = Repeated(DType::kFloat32, {elements});
  const std::vector<AttributeValue> attributes = {std::vector<int64_t>{elements}};
  if (op == "LayerNorm") return Draft(op, {data, parameter, parameter}, attributes);
  const TensorDesc statistic = Repeated(DType::kFloat32, {rows, 1});
  return Draft(op, {data, data, statistic, statistic, parameter}, attributes);
}

std::vector<LongCall> LongCalls(const Operator& op) {
  return RowNormLongCalls(
      [&op](int64_t rows, int64_t elements) { return LongCallOf(op.name, rows, elements); });
}

// As GroupNorm's.
GradientProblem MakeProblem(Rng& rng, int turn) {
  const RowNormShape shape = turn % 2 == 0 ? RowNormShape{{3, 18}, 1} : RowNormShape{{2, 4, 9}, 2};
  OpCase forward = Measured(shape, 0, DType::kFloat32, rng);
  forward.attributes[1] = 0.125;
  return NormProblem(forward, rng);
}

}  // namespace

extern const OperatorTest kLayerNormTest = {
    .reference = ForwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten = "native_layer_norm(input, normalized_shape, weight, bias, eps)",
};

extern const OperatorTest kLayerNormBackwardTest = {
    .reference = BackwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten =
        "native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, "
        "output_mask)",
    .gradient = {.problem = MakeProblem,
                 .tolerance = 1e-5,
                 .step = 0x1p-6,
                 .truncation = 8 * 0x1p-12},
};

}  // namespace opserve::testing::layer_norm
