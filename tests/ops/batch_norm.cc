// The tests' BatchNorm and BatchNormBackward.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/ops/norm_calls.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"

namespace opserve::testing::batch_norm {
namespace {

// In training a channel is a group; so it is with fixed moments, which are the channel's.
NormModel ModelOf(const TestTensor& input) {
  const Dims& shape = input.desc().shape;
  int64_t area = 1;
  for (size_t i = 2; i < shape.size(); ++i) area *= shape[i];
  const auto channel_of = [channels = shape[1], area](int64_t i) { return i / area % channels; };
  return {
      .groups = shape[1], .channels = shape[1], .group_of = channel_of, .channel_of = channel_of};
}

Reference ValuesOf(const TestTensor& tensor) {
  Reference reference = {tensor.Values(), tensor.Values()};
  for (double& magnitude : reference.magnitudes) magnitude = std::fabs(magnitude);
  return reference;
}

// (1 - momentum)·before + momentum·now; `before` alone where there is nothing.
Reference RunningOf(const std::optional<TestTensor>& before, const Reference& now, double momentum,
                    double elements) {
  if (!before.has_value()) return Nothing();
  Reference running = ValuesOf(*before);
  if (elements == 0) return running;
  for (size_t i = 0; i < running.values.size(); ++i) {
    running.values[i] = (1 - momentum) * running.values[i] + momentum * now.values[i];
    running.magnitudes[i] =
        std::fabs(1 - momentum) * running.magnitudes[i] + std::fabs(momentum) * now.magnitudes[i];
  }
  return running;
}

std::vector<Reference> ForwardReference(const OpCase& op_case) {
  const TestTensor& input = *op_case.inputs[0];
  const std::optional<TestTensor>& mean = op_case.inputs[3];
  const std::optional<TestTensor>& variance = op_case.inputs[4];
  const bool training = std::get<bool>(op_case.attributes[0]);
  const double momentum = std::get<double>(op_case.attributes[1]);
  const NormModel model = ModelOf(input);
  const NormMoments moments =
      training ? MomentsOf(model, input) : NormMoments{ValuesOf(*mean), ValuesOf(*variance)};
  const Reference rstd = RstdOf(moments.variance, std::get<double>(op_case.attributes[2]));
  std::vector<Reference> outputs = {
      NormOutput(model, input, moments.mean, rstd, op_case.inputs[1], op_case.inputs[2]),
      moments.mean, rstd, Nothing(), Nothing()};
  if (!training || input.desc().shape[1] == 0) return outputs;
  const auto elements = static_cast<double>(input.count() / input.desc().shape[1]);
  Reference unbiased = moments.variance;
  for (std::vector<double>* values : {&unbiased.values, &unbiased.magnitudes}) {
    for (double& value : *values) value *= elements / (elements - 1);
  }
  outputs[3] = RunningOf(mean, moments.mean, momentum, elements);
  outputs[4] = RunningOf(variance, unbiased, momentum, elements);
  return outputs;
}

std::vector<Reference> BackwardReference(const OpCase& op_case) {
  const TestTensor& input = *op_case.inputs[1];
  const bool training = std::get<bool>(op_case.attributes[0]);
  const std::vector<double> mean = op_case.inputs[training ? 5 : 3]->Values();
  std::vector<double> rstd =
      training
          ? op_case.inputs[6]->Values()
          : RstdOf(ValuesOf(*op_case.inputs[4]), std::get<double>(op_case.attributes[1])).values;
  std::vector<Reference> gradients = NormGradients(ModelOf(input), *op_case.inputs[0], input, mean,
                                                   rstd, op_case.inputs[2], !training);
  const auto& mask = std::get<std::vector<bool>>(op_case.attributes[2]);
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) gradients[i] = Nothing();
  }
  return gradients;
}

// The fourth from last on: channels that threads share, of one batch and of many; sums over several
// chunks; rows of a vector and less, in batches.
const Dims kBatchNormShapes[] = {{2, 3, 5},     {4, 3},          {1, 3, 1},
                                 {3, 2, 4, 5},  {2, 70, 3},      {0, 3, 4},
                                 {2, 0, 3},     {2, 3, 0},       {1, 3, 2, 1, 2, 1, 2, 2},
                                 {40, 5},       {10, 300},       {6, 20, 7, 7},
                                 {1, 4, 20000}, {60, 2, 20, 30}, {300, 40, 2},
                                 {8, 33, 40}};

std::optional<TestTensor> Parameter(bool present, DType dtype, int64_t channels, Rng& rng) {
  if (!present) return std::nullopt;
  return TestTensor::Random(dtype, {channels}, rng);
}

std::optional<TestTensor> PositiveParameter(bool present, DType dtype, int64_t channels, Rng& rng) {
  if (!present) return std::nullopt;
  return Positive(dtype, {channels}, rng);
}

OpCase Forward(const Dims& shape, DType dtype, int turn, Rng& rng) {
  const bool training = turn % 2 == 0;
  const bool running = !training || turn % 4 == 0;
  return CallOf(
      "BatchNorm",
      // Away from zero: a one-pass variance would cancel.
      {Shifted(TestTensor::Random(dtype, shape, rng), 3),
       Parameter(turn % 6 < 4, dtype, shape[1], rng),
       Parameter(turn % 6 != 3, dtype, shape[1], rng), Parameter(running, dtype, shape[1], rng),
       PositiveParameter(running, dtype, shape[1], rng)},
      {training, turn % 8 == 4 ? 0.75 : 0.125, 1e-5});
}

OpCase Backward(const Dims& shape, DType dtype, int turn, Rng& rng) {
  const bool training = turn % 2 == 0;
  const std::vector<bool> mask = {turn % 16 != 2 && turn % 16 != 7,
                                  turn % 16 != 4 && turn % 16 != 3 && turn % 16 != 7,
                                  turn % 16 != 6 && turn % 16 != 3};
  return CallOf(
      "BatchNormBackward",
      {TestTensor::Random(dtype, shape, rng), TestTensor::Random(dtype, shape, rng),
       Parameter(turn % 6 < 4, dtype, shape[1], rng), Parameter(!training, dtype, shape[1], rng),
       PositiveParameter(!training, dtype, shape[1], rng),
       training                         ? Parameter(true, dtype, shape[1], rng)
       : turn % 4 == 1 || shape[1] == 0 ? std::optional(TestTensor::Full(dtype, {0}, 0))
                                        : std::nullopt,
       PositiveParameter(training, dtype, shape[1], rng)},
      {training, 1e-5, mask});
}

std::vector<OpCase> Cases(const Operator& op, Rng& rng) {
  std::vector<OpCase> cases;
  int turn = 0;
  for (const Dims& shape : kBatchNormShapes) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      for (int i = 0; i < (shape[0] == 60 ? 2 : 4); ++i, ++turn) {
        cases.push_back(op.name == "BatchNorm" ? Forward(shape, dtype, turn, rng)
                                               : Backward(shape, dtype, turn, rng));
        cases.back().label =
            absl::StrCat(ShapeToString(shape), "/", std::string(DTypeShortName(dtype)), "/", turn);
      }
      ++turn;
    }
  }
  return cases;
}

OpCase Measured(const Dims& shape, bool training, double mean, DType dtype, Rng& rng) {
  OpCase op_case = CallOf(
      "BatchNorm",
      {Shifted(TestTensor::Random(dtype, shape, rng), mean),
       TestTensor::Random(dtype, {shape[1]}, rng), TestTensor::Random(dtype, {shape[1]}, rng),
       Shifted(TestTensor::Random(dtype, {shape[1]}, rng), mean), Positive(dtype, {shape[1]}, rng)},
      {training, 0.125, 1e-5});
  op_case.label = absl::StrCat(training ? "training" : "evaluation", ", mean ", mean);
  return op_case;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const Dims shapes[] = {{2, 3, 4, 5}, {16, 6}, {16, 32, 14, 14}, {200, 64}, {2, 3, 10007}};
  std::vector<OpCase> cases;
  for (const bool training : {true, false}) {
    for (const double mean : {0.0, 10.0}) {
      for (const Dims& shape : shapes) {
        const OpCase forward = Measured(shape, training, mean, dtype, rng);
        cases.push_back(op.name == "BatchNorm" ? forward : NormGradientOf(forward, rng));
      }
    }
  }
  return cases;
}

OpCall LongCallOf(std::string_view op, const Dims& shape, bool training) {
  const TensorDesc data = Repeated(DType::kFloat32, shape);
  const TensorDesc channels = Repeated(DType::kFloat32, {shape[1]});
  if (op == "BatchNorm")
    return Draft(op, {data, channels, channels, channels, channels}, {training});
  return Draft(op, {data, data, channels, channels, channels, channels, channels}, {training});
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  struct Size {
    std::string_view label;
    Dims shape;
  };
  const Size sizes[] = {
      {"batches", {kHuge, 4, 16}},
      {"single_elements", {kHuge, 1}},
      {"channels", {1, kHuge, 1}},
      {"area", {2, 3, kHuge}},
      {"areas_of_many_channels", {1 << 10, 1 << 10, 1 << 16}},
      {"short_rows", {1 << 14, 1 << 14, 1 << 8}},
  };
  std::vector<LongCall> calls;
  for (const bool training : {true, false}) {
    for (const Size& size : sizes)
      calls.push_back(
          Planned(absl::StrCat(training ? "training_" : "evaluation_", std::string(size.label)),
                  LongCallOf(op.name, size.shape, training)));
  }
  return calls;
}

// As GroupNorm's.
GradientProblem MakeProblem(Rng& rng, int turn) {
  const Dims shape = turn % 4 < 2 ? Dims{3, 2, 9} : Dims{18, 3};
  OpCase forward = Measured(shape, turn % 2 == 0, 0, DType::kFloat32, rng);
  forward.attributes[2] = 0.125;
  return NormProblem(forward, rng);
}

}  // namespace

// PyTorch's function changes the running statistics; the goldens are composed of it.
extern const OperatorTest kBatchNormTest = {
    .reference = ForwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
};

extern const OperatorTest kBatchNormBackwardTest = {
    .reference = BackwardReference,
    .cases = Cases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten =
        "native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, "
        "save_invstd, training, eps, output_mask)",
    .gradient = {.problem = MakeProblem,
                 .tolerance = 1e-5,
                 .step = 0x1p-6,
                 .truncation = 8 * 0x1p-12},
};

}  // namespace opserve::testing::batch_norm
