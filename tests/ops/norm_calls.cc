#include "tests/ops/norm_calls.h"

#include <cmath>
#include <limits>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_values.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

Reference NormZeros(int64_t count) {
  const std::vector<double> zeros(static_cast<size_t>(count), 0.0);
  return {zeros, zeros};
}

void NormAdd(Reference& reference, int64_t at, double term, double magnitude) {
  reference.values[static_cast<size_t>(at)] += term;
  reference.magnitudes[static_cast<size_t>(at)] += std::fabs(magnitude);
}

double NormParameter(const std::optional<TestTensor>& tensor, int64_t channel, double absent) {
  return tensor.has_value() ? tensor->At(channel) : absent;
}

}  // namespace

Reference Nothing() { return NormZeros(0); }

NormModel RowsModel(const Dims& shape, size_t normalized) {
  int64_t rows = 1;
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    (i < shape.size() - normalized ? rows : elements) *= shape[i];
  return {.groups = rows,
          .channels = elements,
          .group_of = [=](int64_t i) { return i / elements; },
          .channel_of = [=](int64_t i) { return i % elements; }};
}

NormMoments MomentsOf(const NormModel& model, const TestTensor& x) {
  NormMoments moments = {NormZeros(model.groups), NormZeros(model.groups)};
  std::vector<double> counts(static_cast<size_t>(model.groups), 0.0);
  for (int64_t i = 0; i < x.count(); ++i) {
    ++counts[static_cast<size_t>(model.group_of(i))];
    if (model.centered) NormAdd(moments.mean, model.group_of(i), x.At(i), x.At(i));
  }
  for (size_t g = 0; g < counts.size() && model.centered; ++g) {
    moments.mean.values[g] /= std::fmax(counts[g], 1);
    moments.mean.magnitudes[g] /= std::fmax(counts[g], 1);
  }
  for (int64_t i = 0; i < x.count(); ++i) {
    const double v = x.At(i) - moments.mean.values[static_cast<size_t>(model.group_of(i))];
    NormAdd(moments.variance, model.group_of(i), v * v, v * v);
  }
  for (size_t g = 0; g < counts.size(); ++g) {
    moments.variance.values[g] /= counts[g];
    moments.variance.magnitudes[g] = std::fabs(moments.variance.values[g]);
  }
  return moments;
}

Reference RstdOf(const Reference& variance, double eps) {
  Reference rstd = variance;
  for (double& value : rstd.values) value = 1 / std::sqrt(value + eps);
  rstd.magnitudes = rstd.values;
  return rstd;
}

Reference NormOutput(const NormModel& model, const TestTensor& x, const Reference& mean,
                     const Reference& rstd, const std::optional<TestTensor>& weight,
                     const std::optional<TestTensor>& bias) {
  Reference out = NormZeros(x.count());
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto group = static_cast<size_t>(model.group_of(i));
    const int64_t channel = model.channel_of(i);
    const double scale = rstd.values[group] * NormParameter(weight, channel, 1);
    NormAdd(out, i, x.At(i) * scale, x.At(i) * scale);
    NormAdd(out, i, -mean.values[group] * scale, mean.magnitudes[group] * scale);
    const double offset = NormParameter(bias, channel, 0);
    NormAdd(out, i, offset, offset);
  }
  return out;
}

std::vector<Reference> NormGradients(const NormModel& model, const TestTensor& dy,
                                     const TestTensor& x, const std::vector<double>& mean,
                                     const std::vector<double>& rstd,
                                     const std::optional<TestTensor>& weight, bool fixed) {
  std::vector<Reference> gradients = {NormZeros(x.count()), NormZeros(model.channels),
                                      NormZeros(model.channels)};
  Reference ds = NormZeros(model.groups);  // Σ w·dy·x
  Reference db = ds;                       // Σ w·dy
  std::vector<double> counts(static_cast<size_t>(model.groups), 0.0);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t group = model.group_of(i);
    const int64_t channel = model.channel_of(i);
    const double m = mean[static_cast<size_t>(group)];
    const double r = rstd[static_cast<size_t>(group)];
    const double g = dy.At(i) * NormParameter(weight, channel, 1);
    NormAdd(ds, group, g * x.At(i), g * x.At(i));
    NormAdd(db, group, g, g);
    ++counts[static_cast<size_t>(group)];
    NormAdd(gradients[1], channel, dy.At(i) * (x.At(i) - m) * r,
            std::fabs(dy.At(i)) * (std::fabs(x.At(i)) + std::fabs(m)) * r);
    NormAdd(gradients[2], channel, dy.At(i), dy.At(i));
  }
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto group = static_cast<size_t>(model.group_of(i));
    const double m = mean[group];
    const double r = rstd[group];
    const double c1 = r * NormParameter(weight, model.channel_of(i), 1);
    NormAdd(gradients[0], i, c1 * dy.At(i), c1 * dy.At(i));
    if (fixed) continue;
    const double c2 = -r * r * r / counts[group];
    const double distance = std::fabs(x.At(i)) + std::fabs(m);
    NormAdd(gradients[0], i, c2 * (ds.values[group] - db.values[group] * m) * (x.At(i) - m),
            c2 * (ds.magnitudes[group] + db.magnitudes[group] * std::fabs(m)) * distance);
    if (model.centered) {
      const double c3 = -r / counts[group];
      NormAdd(gradients[0], i, c3 * db.values[group], c3 * db.magnitudes[group]);
    }
  }
  return gradients;
}

TestTensor Positive(DType dtype, const Dims& shape, Rng& rng) {
  TestTensor tensor = TestTensor::Random(dtype, shape, rng);
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, 0.5 + std::fabs(tensor.At(i)));
  return tensor;
}

TestTensor Shifted(const TestTensor& tensor, double by) {
  TestTensor shifted = tensor;
  for (int64_t i = 0; i < tensor.count(); ++i) shifted.Set(i, tensor.At(i) + by);
  return shifted;
}

OpCase NormGradientOf(const OpCase& forward, Rng& rng) {
  using Source = GradientInput::Source;
  const Gradient& gradient = forward.op->gradient;
  const absl::StatusOr<OpCall> plan = PlanCase(forward);
  EXPECT_THAT(plan, IsOk());
  const std::vector<Reference> results = ReferenceOf(forward);
  OpCase backward;
  backward.op = *FindOperator(gradient.op);
  backward.label = forward.label;
  backward.inputs.resize(backward.op->inputs.size());
  for (const GradientInput& input : gradient.inputs) {
    auto& tensor = backward.inputs[static_cast<size_t>(backward.op->FindInput(input.name))];
    if (input.source == Source::kInput) {
      tensor = forward.inputs[static_cast<size_t>(forward.op->FindInput(input.origin))];
      continue;
    }
    const int output = forward.op->FindOutput(input.origin);
    const TensorDesc& desc = plan->output(output).desc;
    tensor =
        input.source == Source::kOutput
            ? TestTensor::Of(desc.dtype, desc.shape, results[static_cast<size_t>(output)].values)
            : TestTensor::Random(desc.dtype, desc.shape, rng);
  }
  for (const AttributeParam& param : backward.op->attributes) {
    const bool mask = param.name == gradient.output_mask;
    backward.attributes.push_back(mask ? std::vector<bool>(backward.op->outputs.size(), true)
                                       : GradientAttributeOf(forward, param));
  }
  return backward;
}

GradientProblem NormProblem(const OpCase& forward, Rng& rng) {
  const Gradient& gradient = forward.op->gradient;
  GradientProblem problem;
  problem.backward = NormGradientOf(forward, rng);
  std::vector<size_t> inputs;
  for (const GradientOutput& output : gradient.outputs) {
    inputs.push_back(static_cast<size_t>(forward.op->FindInput(output.input)));
    problem.variables.push_back(forward.inputs[inputs.back()]->Values());
  }
  for (const GradientInput& input : gradient.inputs) {
    if (input.source != GradientInput::Source::kOutputGradient) continue;
    const int at = problem.backward.op->FindInput(input.name);
    problem.weights = problem.backward.inputs[static_cast<size_t>(at)]->Values();
  }
  problem.forward = [=](size_t variable, const std::vector<double>& values, DType dtype) {
    OpCase moved = forward;
    for (size_t i = 0; i < moved.inputs.size(); ++i) {
      std::optional<TestTensor>& input = moved.inputs[i];
      if (!input.has_value()) continue;
      input = i == inputs[variable] ? TestTensor::Of(dtype, input->desc().shape, values)
                                    : As(dtype, *input);
    }
    return moved;
  };
  return problem;
}

}  // namespace opserve::testing
