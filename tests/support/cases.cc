#include "tests/support/cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/case_rows.h"

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

struct DTypes {
  std::string_view label;
  std::vector<DType> inputs;  // the last repeats
  DType output = DType::kUndefined;
};

const std::vector<DTypes>& ElementwiseDTypes() {
  static const std::vector<DTypes> dtypes = {
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

std::vector<std::vector<AttributeValue>> LossAttributes(const Operator& op) {
  std::vector<std::vector<AttributeValue>> lists;
  for (int64_t reduction = 0; reduction <= 2; ++reduction) {
    if (op.FindAttribute("beta") < 0) {
      lists.push_back({reduction});
      continue;
    }
    for (const double beta : {0.0, 0.7, std::numeric_limits<double>::infinity()})
      lists.push_back({reduction, beta});
  }
  return lists;
}

OpCase ElementwiseCase(const Operator& op, const Shapes& shapes, const DTypes& dtypes,
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

std::vector<OpCase> ElementwiseCases(const Operator& op,
                                     const std::vector<std::vector<AttributeValue>>& attributes,
                                     Rng& rng) {
  std::vector<OpCase> cases;
  // Every attribute list with f32; they take turns with the other dtypes.
  size_t turn = 0;
  for (const Shapes& shapes : ElementwiseShapes()) {
    for (const DTypes& dtypes : ElementwiseDTypes()) {
      const bool all = dtypes.label == "f32";
      for (size_t i = 0; i < (all ? attributes.size() : 2); ++i) {
        const auto& list = attributes[all ? i : turn++ % attributes.size()];
        cases.push_back(ElementwiseCase(op, shapes, dtypes, list, rng));
      }
    }
  }
  return cases;
}

// L1 takes integers beside a float.
void AddIntegerCases(const Operator& op, Rng& rng, std::vector<OpCase>& cases) {
  const DTypes dtypes = {"i32_bf16_bool", {DType::kInt32, DType::kBFloat16, DType::kBool}};
  const DTypes narrow = {"f16_i8_u8", {DType::kFloat16, DType::kInt8, DType::kUint8}};
  for (const Shapes& shapes : ElementwiseShapes()) {
    cases.push_back(
        ElementwiseCase(op, shapes, op.inputs.size() == 3 ? dtypes : narrow, {int64_t{0}}, rng));
    cases.push_back(ElementwiseCase(op, shapes, narrow, {int64_t{1}}, rng));
  }
}

}  // namespace

void PrintTo(const OpCase& op_case, std::ostream* out) {
  *out << op_case.op->name << " " << op_case.label;
}

std::vector<OpCase> CasesOf(const Operator& op) {
  Rng rng = MakeRng(std::hash<std::string_view>()(op.name));
  std::vector<OpCase> cases;
  if (op.FindAttribute("reduction") >= 0) cases = ElementwiseCases(op, LossAttributes(op), rng);
  if (op.name.starts_with("Hardshrink")) {
    cases = ElementwiseCases(op, {{0.5}, {0.0}, {-1.0}, {std::nan("")}, {int64_t{1}}, {true}}, rng);
  }
  if (op.name.starts_with("GroupNorm")) cases = GroupNormCases(op, rng);
  if (op.name.starts_with("CtcLoss")) cases = CtcLossCases(op, rng);
  if (op.name.starts_with("L1Loss")) AddIntegerCases(op, rng, cases);
  EXPECT_FALSE(cases.empty()) << "tests/support/cases.cc has no cases of " << op.name;
  return cases;
}

NamedCall ToNamedCall(const OpCase& op_case) {
  NamedCall call;
  call.op = op_case.op->name;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.inputs[i].has_value()) continue;
    call.inputs.push_back(
        {op_case.op->inputs[i].name, op_case.inputs[i]->desc(), static_cast<int>(i)});
  }
  for (size_t i = 0; i < op_case.attributes.size(); ++i) {
    if (!IsGiven(op_case.attributes[i])) continue;
    call.attributes.push_back({op_case.op->attributes[i].name, op_case.attributes[i]});
  }
  for (size_t i = 0; i < op_case.output_dtypes.size(); ++i) {
    call.outputs.push_back({op_case.op->outputs[i].name, op_case.output_dtypes[i], std::nullopt});
  }
  return call;
}

OpCase Scattered(const OpCase& op_case) {
  OpCase scattered = op_case;
  for (std::optional<TestTensor>& input : scattered.inputs) {
    if (input.has_value()) input = input->Scattered(2);
  }
  return scattered;
}

}  // namespace opserve::testing
