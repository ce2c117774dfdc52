// The same call on every SIMD target of this machine. Results may differ in bits between targets,
// but not in worth.
#include "core/backends/cpu/simd.h"

#include "core/backends/cpu/cpu_device.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

class SimdTest : public ::testing::TestWithParam<const Operator*> {
 public:
  ~SimdTest() override { Use(0); }

 protected:
  static std::vector<int64_t> Targets() {
    std::vector<int64_t> targets;
    for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
      targets.push_back(left & -left);
    }
    return targets;
  }

  static void Use(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void ExpectClose(const testing::TestTensor& output, const testing::Reference& reference) {
  const testing::ErrorStats stats = testing::Compare(output, reference);
  const double threshold = testing::MeanThreshold(output.desc().dtype);
  ASSERT_TRUE(stats.special_match);
  ASSERT_LT(stats.mean, threshold);
  ASSERT_LT(stats.max, 10 * threshold);
}

TEST_P(SimdTest, EveryTargetIsRight) {
  const std::unique_ptr<Engine> engine = testing::MakeEngine(1);
  const std::vector<int64_t> targets = Targets();
  const std::vector<testing::OpCase> cases = testing::CasesOf(*GetParam());
  for (size_t i = 0; i < cases.size(); i += 5) {
    SCOPED_TRACE(cases[i].label);
    const std::vector<testing::Reference> references = testing::ReferenceOf(cases[i]);
    for (const int64_t target : targets) {
      SCOPED_TRACE(hwy::TargetName(target));
      Use(target);
      const auto outputs = testing::Run(*engine, cases[i]);
      ASSERT_THAT(outputs, testing::IsOk());
      for (size_t k = 0; k < outputs->size(); ++k) ExpectClose((*outputs)[k], references[k]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOperators, SimdTest,
                         ::testing::ValuesIn(AllOperators().begin(), AllOperators().end()),
                         [](const ::testing::TestParamInfo<const Operator*>& row) {
                           return std::string(row.param->name);
                         });

}  // namespace
}  // namespace opserve
