#include "tests/accuracy/accuracy_cases.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/support/log_softmax.h"
#include "tests/support/reference.h"

namespace opserve::testing {
namespace {

OpCase CaseOf(const Operator& op, std::string label, std::vector<AttributeValue> attributes) {
  OpCase op_case;
  op_case.label = std::move(label);
  op_case.op = &op;
  op_case.attributes = std::move(attributes);
  return op_case;
}

// Element-wise: the last shape repeats.
std::vector<OpCase> ElementwiseCases(const Operator& op,
                                     const std::vector<std::vector<AttributeValue>>& attributes,
                                     const std::function<std::string(size_t)>& label, DType dtype,
                                     Rng& rng) {
  const std::vector<std::vector<Dims>> shapes = {
      {{8}}, {{20011}}, {{37, 1, 29}, {1, 11, 29}, {37, 11, 1}}};
  std::vector<OpCase> cases;
  for (size_t list = 0; list < attributes.size(); ++list) {
    for (const std::vector<Dims>& shape : shapes) {
      OpCase& op_case = cases.emplace_back(CaseOf(op, label(list), attributes[list]));
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        op_case.inputs.push_back(
            TestTensor::Random(dtype, shape[std::min(i, shape.size() - 1)], rng));
      }
    }
  }
  return cases;
}

std::vector<OpCase> LossCases(const Operator& op, DType dtype, Rng& rng) {
  static constexpr std::string_view kReductions[] = {"none", "mean", "sum"};
  std::vector<std::vector<AttributeValue>> attributes;
  for (int64_t reduction = 0; reduction <= 2; ++reduction) {
    attributes.push_back({reduction});
    if (op.FindAttribute("beta") >= 0) attributes.back().push_back(0.7);
  }
  return ElementwiseCases(
      op, attributes, [](size_t i) { return std::string(kReductions[i]); }, dtype, rng);
}

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

OpCase GroupNormForward(const GroupSizes& size, double mean, DType dtype, Rng& rng) {
  OpCase op_case = CaseOf(**FindOperator("GroupNorm"), absl::StrCat("mean ", mean),
                          {size.batch, size.channels, size.area, size.groups, 1e-5});
  const Dims shape = {size.batch, size.channels, size.area};
  op_case.inputs = {Shifted(TestTensor::Random(dtype, shape, rng), mean),
                    TestTensor::Random(dtype, {size.channels}, rng),
                    TestTensor::Random(dtype, {size.channels}, rng)};
  return op_case;
}

// The moments that a forward would give.
OpCase GroupNormBackward(const GroupSizes& size, double mean, DType dtype, Rng& rng) {
  const OpCase forward = GroupNormForward(size, mean, dtype, rng);
  const std::vector<Reference> results = ReferenceOf(forward);
  const Dims groups = {size.batch, size.groups};
  OpCase op_case = CaseOf(**FindOperator("GroupNormBackward"), forward.label, forward.attributes);
  op_case.attributes[4] = std::vector<bool>{true, true, true};
  op_case.inputs = {TestTensor::Random(dtype, forward.inputs[0]->desc().shape, rng),
                    forward.inputs[0], TestTensor::Of(dtype, groups, results[1].values),
                    TestTensor::Of(dtype, groups, results[2].values), forward.inputs[1]};
  return op_case;
}

std::vector<OpCase> GroupNormCases(const Operator& op, DType dtype, Rng& rng) {
  const auto make = op.name == "GroupNorm" ? GroupNormForward : GroupNormBackward;
  std::vector<OpCase> cases;
  for (const double mean : {0.0, 10.0}) {
    for (const GroupSizes& size : kGroupSizes) cases.push_back(make(size, mean, dtype, rng));
  }
  return cases;
}

struct CtcSizes {
  int64_t steps, batch, classes, labels;
};
constexpr CtcSizes kCtcSizes[] = {{50, 8, 20, 20}, {150, 2, 500, 30}, {500, 2, 80, 100}};

OpCase CtcForward(const CtcSizes& size, DType dtype, Rng& rng) {
  const std::vector<int64_t> steps(static_cast<size_t>(size.batch), size.steps);
  const std::vector<int64_t> labels(static_cast<size_t>(size.batch), size.labels);
  OpCase op_case = CaseOf(**FindOperator("CtcLoss"), absl::StrCat("T", size.steps),
                          {steps, labels, int64_t{0}, false});
  const Dims shape = {size.steps, size.batch, size.classes};
  TestTensor targets = TestTensor::Full(DType::kInt64, {size.batch, size.labels}, 1);
  for (int64_t i = 0; i < targets.count(); ++i)
    targets.Set(i, static_cast<int64_t>(1 + rng() % static_cast<uint64_t>(size.classes - 1)));
  op_case.inputs = {
      LogSoftmax(dtype, shape, TestTensor::Random(DType::kFloat64, shape, rng).Values()), targets};
  return op_case;
}

// α and the loss of a forward, rounded.
OpCase CtcBackward(const CtcSizes& size, DType dtype, Rng& rng) {
  const OpCase forward = CtcForward(size, dtype, rng);
  const std::vector<Reference> results = ReferenceOf(forward);
  const Dims alpha = {size.batch, size.steps, 2 * size.labels + 1};
  OpCase op_case = CaseOf(**FindOperator("CtcLossBackward"), forward.label, forward.attributes);
  op_case.inputs = {TestTensor::Random(dtype, {size.batch}, rng), forward.inputs[0],
                    forward.inputs[1], TestTensor::Of(dtype, {size.batch}, results[0].values),
                    TestTensor::Of(dtype, alpha, results[1].values)};
  return op_case;
}

std::vector<OpCase> CtcCases(const Operator& op, DType dtype, Rng& rng) {
  const auto make = op.name == "CtcLoss" ? CtcForward : CtcBackward;
  std::vector<OpCase> cases;
  for (const CtcSizes& size : kCtcSizes) cases.push_back(make(size, dtype, rng));
  return cases;
}

std::vector<OpCase> CasesIn(const Operator& op, DType dtype) {
  Rng rng = MakeRng(std::hash<std::string_view>()(op.name) + 1);
  if (op.name.starts_with("GroupNorm")) return GroupNormCases(op, dtype, rng);
  if (op.name.starts_with("CtcLoss")) return CtcCases(op, dtype, rng);
  if (op.FindAttribute("reduction") >= 0) return LossCases(op, dtype, rng);
  return ElementwiseCases(
      op, {{0.5}}, [](size_t) { return std::string(); }, dtype, rng);
}

}  // namespace

std::vector<OpCase> AccuracyCases(const Operator& op) {
  std::vector<OpCase> cases;
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    if (!op.support[static_cast<size_t>(Profile::kHost)].Contains(dtype)) continue;
    for (OpCase& op_case : CasesIn(op, dtype)) cases.push_back(std::move(op_case));
  }
  return cases;
}

OpCase InFloats(const OpCase& op_case) {
  OpCase floats = op_case;
  for (std::optional<TestTensor>& input : floats.inputs)
    input = TestTensor::Of(DType::kFloat32, input->desc().shape, input->Values());
  return floats;
}

}  // namespace opserve::testing
