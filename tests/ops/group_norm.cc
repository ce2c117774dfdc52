// The tests' GroupNorm and GroupNormBackward; their references and cases are in tests/support.
#include "absl/strings/str_cat.h"
#include "tests/support/calls.h"
#include "tests/support/case_rows.h"
#include "tests/support/gradient_values.h"
#include "tests/support/operator_test.h"
#include "tests/support/reference_rows.h"

namespace opserve::testing::group_norm {
namespace {

struct GroupSizes {
  int64_t batch, channels, area, groups;
};
constexpr GroupSizes kGroupSizes[] = {
    {2, 64, 49, 8}, {1, 8, 3136, 2}, {8, 32, 1, 4}, {1, 2, 20011, 1}};

TestTensor Shifted(const TestTensor& tensor, double by) {
  TestTensor shifted = tensor;
  for (int64_t i = 0; i < tensor.count(); ++i) shifted.Set(i, tensor.At(i) + by);
  return shifted;
}

OpCase MeasuredForward(const GroupSizes& size, double mean, DType dtype, Rng& rng) {
  const Dims shape = {size.batch, size.channels, size.area};
  const TestTensor self = Shifted(TestTensor::Random(dtype, shape, rng), mean);
  const TestTensor gamma = TestTensor::Random(dtype, {size.channels}, rng);
  OpCase op_case =
      CallOf("GroupNorm", {self, gamma, TestTensor::Random(dtype, {size.channels}, rng)},
             {size.batch, size.channels, size.area, size.groups, 1e-5});
  op_case.label = absl::StrCat("mean ", mean);
  return op_case;
}

// The moments that a forward would give.
OpCase MeasuredBackward(const GroupSizes& size, double mean, DType dtype, Rng& rng) {
  const OpCase forward = MeasuredForward(size, mean, dtype, rng);
  const std::vector<Reference> results = ReferenceOf(forward);
  const Dims groups = {size.batch, size.groups};
  OpCase op_case = CallOf("GroupNormBackward", {}, forward.attributes);
  op_case.label = forward.label;
  op_case.attributes[4] = std::vector<bool>{true, true, true};
  op_case.inputs = {TestTensor::Random(dtype, forward.inputs[0]->desc().shape, rng),
                    forward.inputs[0], TestTensor::Of(dtype, groups, results[1].values),
                    TestTensor::Of(dtype, groups, results[2].values), forward.inputs[1]};
  return op_case;
}

std::vector<OpCase> AccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const auto make = op.name == "GroupNorm" ? MeasuredForward : MeasuredBackward;
  std::vector<OpCase> cases;
  for (const double mean : {0.0, 10.0}) {
    for (const GroupSizes& size : kGroupSizes) cases.push_back(make(size, mean, dtype, rng));
  }
  return cases;
}

struct Norm {
  std::string_view label;
  int64_t n, c, hw, group;
};

OpCall NormCall(std::string_view op, const Norm& norm) {
  const TensorDesc data = Repeated(DType::kFloat32, {norm.n, norm.c, norm.hw});
  const std::vector<AttributeValue> sizes = {norm.n, norm.c, norm.hw, norm.group};
  if (op == "GroupNorm") return Draft(op, {data}, sizes);
  const TensorDesc statistics = Repeated(DType::kFloat32, {norm.n, norm.group});
  return Draft(op, {data, data, statistics, statistics, Repeated(DType::kFloat32, {norm.c})},
               sizes);
}

std::vector<LongCall> LongCalls(const Operator& op) {
  constexpr int64_t kHuge = int64_t{1} << 36;
  const Norm norms[] = {
      {"batches", kHuge, 4, 64, 2},
      {"flat_batches", kHuge, 4, 3, 2},
      {"single_elements", kHuge, 1, 1, 1},
      {"channels", 1, kHuge, 1, kHuge},
      {"channels_of_a_group", 1, kHuge, 33, 1},
      {"area", 1, 2, kHuge, 1},
      {"areas_of_many_groups", 32, 32, kHuge, 32},
      {"split_rows", 1 << 14, 1 << 16, 64, 1},
      {"split_short_rows", 1 << 14, 1 << 18, 8, 1},
      {"whole_groups", 1 << 24, 1 << 9, 256, 1},
  };
  std::vector<LongCall> calls;
  for (const Norm& norm : norms)
    calls.push_back(Planned(std::string(norm.label), NormCall(op.name, norm)));
  // Nothing in the groups, but statistics of each.
  if (op.name == "GroupNorm")
    calls.push_back(Planned("empty_groups", NormCall(op.name, {"", kHuge, 4, 0, 4})));
  return calls;
}

std::vector<LongCall> LongEnds() {
  OpCall rows = NormCall("GroupNormBackward", {"", 1, 1 << 21, 32, 1});
  // Quick to read, so that the sums of the rows are soon there.
  for (auto& input : rows.inputs) input = TensorDesc::Dense(input->dtype, input->shape);
  rows.attributes.back() = std::vector<bool>{false, true, true};
  return {Planned("sums_of_rows", rows)};
}

// Variables: the input, gamma and beta. The moments are those of the forward, rounded to float32.
GradientProblem MakeProblem(Rng& rng, int turn) {
  const int64_t groups = turn % 2 == 0 ? 2 : 1;
  const std::vector<AttributeValue> sizes = {int64_t{2}, int64_t{4}, int64_t{9}, groups, 0.125};
  const Dims shape = {2, 4, 9};
  const TestTensor grad = Normal(shape, rng);
  const std::vector<TestTensor> variables = {Normal(shape, rng), Normal({4}, rng),
                                             Normal({4}, rng)};
  GradientProblem problem;
  for (const TestTensor& variable : variables) problem.variables.push_back(variable.Values());
  problem.weights = grad.Values();
  problem.forward = [=](size_t variable, const std::vector<double>& values, DType dtype) {
    std::vector<std::optional<TestTensor>> inputs;
    for (size_t i = 0; i < variables.size(); ++i) {
      inputs.emplace_back(i == variable ? TestTensor::Of(dtype, variables[i].desc().shape, values)
                                        : As(dtype, variables[i]));
    }
    return CallOf("GroupNorm", inputs, sizes);
  };
  const std::vector<Reference> results =
      ReferenceOf(problem.forward(0, problem.variables[0], DType::kFloat64));
  std::vector<AttributeValue> attributes = sizes;
  attributes[4] = std::vector<bool>{true, true, true};
  problem.backward =
      CallOf("GroupNormBackward",
             {grad, variables[0], TestTensor::Of(DType::kFloat32, {2, groups}, results[1].values),
              TestTensor::Of(DType::kFloat32, {2, groups}, results[2].values), variables[1]},
             attributes);
  return problem;
}

}  // namespace

extern const OperatorTest kGroupNormTest = {
    .reference = GroupNormReference,
    .cases = GroupNormCases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .aten = "native_group_norm(self, gamma, beta, N, C, HxW, group, eps)",
};

extern const OperatorTest kGroupNormBackwardTest = {
    .reference = GroupNormBackwardReference,
    .cases = GroupNormCases,
    .accuracy_cases = AccuracyCases,
    .long_calls = LongCalls,
    .long_ends = LongEnds,
    .aten =
        "native_group_norm_backward(grad_out, input, mean, rstd, gamma, N, C, HxW, group, "
        "output_mask)",
    // The forward has third derivatives of a few units (eps = 1/8 and 18 elements or more keep rstd
    // below 3): 2^-6 squared times 8.
    .gradient = {.problem = MakeProblem,
                 .tolerance = 1e-5,
                 .step = 0x1p-6,
                 .truncation = 8 * 0x1p-12},
};

}  // namespace opserve::testing::group_norm
