// Every operator's errors over random inputs are within their bounds, and no worse than ATen's.
#include <map>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/accuracy/accuracy_bounds.h"
#include "tests/accuracy/accuracy_cases.h"
#include "tests/accuracy/aten.h"
#include "tests/support/calls.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

class AccuracyTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static const std::vector<AccuracyRow>& Rows() {
    // Once for both tests.
    static std::map<const Operator*, std::vector<AccuracyRow>> rows;
    if (!rows.contains(GetParam())) rows[GetParam()] = MeasureAccuracy(*GetParam());
    return rows[GetParam()];
  }
};

TEST_P(AccuracyTest, ErrorsAreWithinTheirBounds) {
  ASSERT_FALSE(Rows().empty());
  for (const AccuracyRow& row : Rows()) {
    EXPECT_GT(row.elements, 0) << row.Name();
    for (const std::string& broken : BrokenBounds(row)) ADD_FAILURE() << broken;
  }
}

TEST_P(AccuracyTest, ErrorsAreNoWorseThanThoseOfAten) {
  if (AtenVersion().empty()) GTEST_SKIP() << "built without libtorch (Debian: libtorch-dev)";
  for (const AccuracyRow& row : Rows()) {
    EXPECT_TRUE(row.aten.has_value() || TestOf(*row.op).aten.empty()) << row.Name();
    for (const std::string& broken : WorseThanAten(row)) ADD_FAILURE() << broken;
  }
}

TEST_P(AccuracyTest, HalfTypesAreTheFloatResultRoundedOnce) {
  for (const OpCase& op_case : AccuracyCases(*GetParam())) {
    const DType dtype = op_case.inputs[0]->desc().dtype;
    if (DTypeSize(dtype) != 2) continue;
    SCOPED_TRACE(op_case.label);
    const auto halves = AllOutputs(op_case);
    const auto floats = AllOutputs(InFloats(op_case));
    ASSERT_TRUE(halves.ok() && floats.ok()) << halves.status() << floats.status();
    for (size_t i = 0; i < halves->size(); ++i) {
      const TestTensor& want = (*floats)[i];
      const TestTensor rounded =
          TestTensor::Of((*halves)[i].desc().dtype, want.desc().shape, want.Values());
      EXPECT_TRUE(SameBits((*halves)[i], rounded)) << op_case.op->outputs[i].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOperators, AccuracyTest,
                         ::testing::ValuesIn(AllOperators().begin(), AllOperators().end()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace opserve::testing
