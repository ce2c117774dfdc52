// Every operator against the answers of PyTorch's CPU that make_goldens.py kept.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/accuracy/accuracy_bounds.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using nlohmann::json;

TestTensor TensorOf(const json& golden) {
  const std::string hex = golden.at("hex");
  const Dims shape = [&] {
    const auto extents = golden.at("shape").get<std::vector<int64_t>>();
    return Dims(extents.begin(), extents.end());
  }();
  TestTensor tensor(TensorDesc::Dense(*ParseDType(golden.at("dtype").get<std::string>()), shape));
  EXPECT_EQ(hex.size(), 2 * tensor.bytes().size());
  for (size_t i = 0; i < tensor.bytes().size(); ++i) {
    tensor.data()[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return tensor;
}

AttributeValue AttributeOf(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (!value.empty() && value[0].is_boolean()) return value.get<std::vector<bool>>();
  return value.get<std::vector<int64_t>>();
}

OpCase CaseOf(const Operator& op, const json& golden) {
  OpCase op_case;
  op_case.op = &op;
  for (const TensorParam& param : op.inputs) {
    const auto found = golden.at("inputs").find(std::string(param.name));
    const bool given = found != golden.at("inputs").end();
    op_case.inputs.push_back(given ? std::optional(TensorOf(*found)) : std::nullopt);
  }
  for (const AttributeParam& param : op.attributes) {
    op_case.attributes.push_back(AttributeOf(golden.at("attributes").at(std::string(param.name))));
  }
  return op_case;
}

// Two float implementations in different orders; a half type may round to the neighbour.
double Tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-10;
    case DType::kBFloat16:
      return 0x1p-7;
    case DType::kFloat64:
      return 0x1p-42;
    default:
      return 0x1p-17;
  }
}

void ExpectNear(const TestTensor& got, const TestTensor& want) {
  ASSERT_EQ(got.desc().dtype, want.desc().dtype);
  ASSERT_EQ(got.desc().shape, want.desc().shape);
  const double tolerance = Tolerance(got.desc().dtype);
  for (int64_t i = 0; i < got.count(); ++i) {
    const double a = got.At(i), b = want.At(i);
    if (std::isnan(b) || std::isinf(b)) {
      ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b)
          << "at " << i << ": got " << a << ", want " << b;
    } else {
      ASSERT_LE(std::fabs(a - b), tolerance * std::max(1.0, std::fabs(b)))
          << "at " << i << ": got " << a << ", want " << b;
    }
  }
}

class GoldenTest : public ::testing::TestWithParam<const Operator*> {};

TEST_P(GoldenTest, AgreesWithPyTorch) {
  const Operator& op = *GetParam();
  std::ifstream file("tests/golden/data/" + std::string(op.name) + ".json");
  ASSERT_TRUE(file.is_open()) << "no goldens of " << op.name;
  const json goldens = json::parse(file);
  ASSERT_FALSE(goldens.empty());
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  for (size_t i = 0; i < goldens.size(); ++i) {
    SCOPED_TRACE(i);
    const absl::StatusOr<std::vector<TestTensor>> outputs =
        testing::Run(*engine, CaseOf(op, goldens[i]));
    ASSERT_THAT(outputs, IsOk());
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      TestTensor want = TensorOf(goldens[i].at("outputs").at(std::string(op.outputs[k].name)));
      ASSERT_NO_FATAL_FAILURE(ExpectNear((*outputs)[k], want)) << op.outputs[k].name;
    }
  }
}

// Of GroupNorm and CtcLoss, which have no bounds of their own.
TEST_P(GoldenTest, IsNoLessAccurateThanPyTorch) {
  const Operator& op = *GetParam();
  std::ifstream file("tests/golden/data/" + std::string(op.name) + ".json");
  ASSERT_TRUE(file.is_open()) << "no goldens of " << op.name;
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  std::vector<AccuracyRow> rows;
  for (const json& golden : json::parse(file)) {
    const OpCase op_case = CaseOf(op, golden);
    const absl::StatusOr<std::vector<TestTensor>> outputs = testing::Run(*engine, op_case);
    ASSERT_THAT(outputs, IsOk());
    const std::vector<Reference> references = ReferenceOf(op_case);
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      if ((*outputs)[k].count() == 0) continue;
      const TestTensor theirs = TensorOf(golden.at("outputs").at(std::string(op.outputs[k].name)));
      RowFor(rows, op_case, k).Add((*outputs)[k], &theirs, references[k]);
    }
  }
  EXPECT_FALSE(rows.empty());
  for (const AccuracyRow& row : rows) {
    for (const auto& broken : {BrokenBounds(row), WorseThanAten(row)}) {
      for (const std::string& line : broken) ADD_FAILURE() << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOperators, GoldenTest,
                         ::testing::ValuesIn(AllOperators().begin(), AllOperators().end()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace opserve::testing
