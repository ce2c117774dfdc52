#include "tests/support/elementwise_calls.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"
#include "gtest/gtest.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

// Shapes of the two or three inputs of an element-wise operator.
struct Shapes {
  std::string_view label;
  std::vector<Dims> inputs;  // the last repeats
};

const std::vector<Shapes>& ElementwiseShapes() {
  static const std::vector<Shapes> shapes = {
      {"scalar", {{}}},
      {"eight", {{4, 2}}},
      {"odd", {{3, 5, 7}}},
      {"tile_edge", {{2049}}},
      {"chunks", {{3, 10923}}},
      {"first_scalar", {{}, {5, 33}}},
      {"row_and_column", {{1, 70}, {40, 1}, {70}}},
      {"middle", {{6, 1, 9}, {6, 300, 9}, {1, 300, 1}}},
      {"rank_8", {{2, 1, 3, 1, 2, 1, 2, 5}, {1, 2, 3, 2, 1, 2, 2, 5}}},
      {"empty", {{0, 3}}},
      {"empty_broadcast", {{1, 3}, {0, 3}}},
  };
  return shapes;
}

const std::vector<CaseDTypes>& ElementwiseDTypes() {
  static const std::vector<CaseDTypes> dtypes = {
      {"f32", {DType::kFloat32}},
      {"f16", {DType::kFloat16}},
      {"bf16", {DType::kBFloat16}},
      {"f16_to_f32", {DType::kFloat16}, DType::kFloat32},
      {"f32_to_bf16", {DType::kFloat32}, DType::kBFloat16},
      {"bf16_f16", {DType::kBFloat16, DType::kFloat16}},
      {"f32_bf16", {DType::kFloat32, DType::kBFloat16}},
  };
  return dtypes;
}

template <typename T>
const T& AtOrLast(const std::vector<T>& list, size_t i) {
  return list[std::min(i, list.size() - 1)];
}

OpCase ElementwiseCase(const Operator& op, const Shapes& shapes, const CaseDTypes& dtypes,
                       const std::vector<AttributeValue>& attributes, Rng& rng) {
  OpCase result;
  result.label = absl::StrCat(std::string(shapes.label), "/", std::string(dtypes.label));
  for (const AttributeValue& value : attributes)
    absl::StrAppend(&result.label, "/", AttributeInWords(value));
  result.op = &op;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    result.inputs.push_back(
        TestTensor::Random(AtOrLast(dtypes.inputs, i), AtOrLast(shapes.inputs, i), rng));
  }
  result.attributes = attributes;
  result.output_dtypes = {dtypes.output};
  return result;
}

}  // namespace

std::vector<OpCase> ElementwiseCases(const Operator& op, Rng& rng) {
  const std::vector<std::vector<AttributeValue>>& attributes = TestOf(op).attributes;
  std::vector<OpCase> cases;
  // Every attribute list with f32; they take turns with the other dtypes.
  size_t turn = 0;
  for (const Shapes& shapes : ElementwiseShapes()) {
    for (const CaseDTypes& dtypes : ElementwiseDTypes()) {
      const bool all = dtypes.label == "f32";
      for (size_t i = 0; i < (all ? attributes.size() : 2); ++i) {
        const auto& list = attributes[all ? i : turn++ % attributes.size()];
        cases.push_back(ElementwiseCase(op, shapes, dtypes, list, rng));
      }
    }
  }
  return cases;
}

std::vector<OpCase> ElementwiseSample(const Operator& op,
                                      const std::vector<std::vector<AttributeValue>>& attributes,
                                      Rng& rng) {
  std::vector<OpCase> cases;
  size_t turn = 0;
  const auto add = [&](const Shapes& shapes, const CaseDTypes& dtypes) {
    const auto& list = attributes[turn++ % attributes.size()];
    cases.push_back(ElementwiseCase(op, shapes, dtypes, list, rng));
  };
  const Shapes odd = {"odd", {{3, 5, 7}}};
  const CaseDTypes floats = ElementwiseDTypes()[0];
  for (const Shapes& shapes : ElementwiseShapes()) add(shapes, floats);
  for (const CaseDTypes& dtypes : ElementwiseDTypes()) add(odd, dtypes);
  for (size_t i = 0; i < attributes.size(); ++i) add(odd, floats);
  return cases;
}

std::vector<OpCase> ElementwiseCasesOf(const Operator& op, const CaseDTypes& dtypes,
                                       const std::vector<AttributeValue>& attributes, Rng& rng) {
  std::vector<OpCase> cases;
  for (const Shapes& shapes : ElementwiseShapes())
    cases.push_back(ElementwiseCase(op, shapes, dtypes, attributes, rng));
  return cases;
}

std::vector<OpCase> ElementwiseAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  const std::vector<std::vector<Dims>> all_shapes = {
      {{8}}, {{20011}}, {{37, 1, 29}, {1, 11, 29}, {37, 11, 1}}};
  std::vector<OpCase> cases;
  for (const LabelledAttributes& list : TestOf(op).measured) {
    for (const std::vector<Dims>& shapes : all_shapes) {
      OpCase& op_case = cases.emplace_back();
      op_case.op = &op;
      op_case.label = list.label;
      op_case.attributes = list.values;
      for (size_t i = 0; i < op.inputs.size(); ++i)
        op_case.inputs.push_back(TestTensor::Random(dtype, AtOrLast(shapes, i), rng));
    }
  }
  return cases;
}

LongCall ElementwiseLongCall(const Operator& op, std::string_view label,
                             const std::vector<DType>& dtypes, const Dims& shape,
                             const std::vector<AttributeValue>& attributes) {
  std::vector<TensorDesc> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    inputs.push_back(Repeated(dtypes[i % dtypes.size()], shape));
  return Planned(std::string(label), Draft(op.name, inputs, attributes));
}

std::vector<LongCall> ElementwiseLongCalls(const Operator& op) {
  const std::vector<AttributeValue>& attributes = TestOf(op).measured.front().values;
  return {ElementwiseLongCall(op, "elements", {DType::kFloat32}, {int64_t{1} << 57}, attributes),
          ElementwiseLongCall(op, "rows", {DType::kFloat16, DType::kBFloat16},
                              {int64_t{1} << 38, 3}, attributes)};
}

double RoundTo(DType dtype, double value) {
  std::byte element[sizeof(double)];
  // A matcher would cost more than all else that is done for an element.
  if (!StoreElement(dtype, value, element).ok()) ADD_FAILURE() << value << " does not fit";
  return LoadAsDouble(dtype, element);
}

Broadcast BroadcastInputsOf(const OpCase& op_case) {
  Broadcast result;
  DType promoted = op_case.inputs[0]->desc().dtype;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    if (!input.has_value()) continue;
    result.shape = *BroadcastShapes(result.shape, input->desc().shape);
    promoted = PromoteDTypes(promoted, input->desc().dtype);
  }
  result.count = *NumElements(result.shape);
  result.promoted = promoted;
  for (const std::optional<TestTensor>& input : op_case.inputs) {
    if (!input.has_value()) continue;
    std::vector<double>& values = result.inputs.emplace_back();
    values = BroadcastValues(*input, result.shape);
    if (input->desc().dtype == promoted) continue;
    for (double& value : values) value = RoundTo(promoted, value);
  }
  return result;
}

std::vector<Reference> ExactReference(std::vector<double> values) {
  Reference reference;
  reference.magnitudes.reserve(values.size());
  for (const double value : values) reference.magnitudes.push_back(std::fabs(value));
  reference.values = std::move(values);
  return {reference};
}

std::vector<Reference> MapReference(
    const OpCase& op_case, const std::function<double(const std::vector<double>&)>& function) {
  const Broadcast in = BroadcastInputsOf(op_case);
  std::vector<double> values;
  std::vector<double> elements(in.inputs.size());
  for (size_t i = 0; i < static_cast<size_t>(in.count); ++i) {
    for (size_t k = 0; k < elements.size(); ++k) elements[k] = in.inputs[k][i];
    values.push_back(function(elements));
  }
  return ExactReference(std::move(values));
}

}  // namespace opserve::testing
