// What every operator of the table keeps: it is right, writes what it owes and nothing else, and
// gives the same bits whatever the layout of its tensors, the thread count, the state of its
// workspace and its company.
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"

namespace opserve::testing {
namespace {

class ContractTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static void SetUpTestSuite() {
    one_ = MakeEngine(1).release();
    three_ = MakeEngine(3).release();
  }
  static void TearDownTestSuite() {
    delete one_;
    delete three_;
  }

  static Device& device() { return *one_->devices()[0]; }

  static std::vector<TestTensor> RunOn(Device& device, const OpCase& op_case, const OpCall& call,
                                       std::byte dirt) {
    absl::StatusOr<std::vector<TestTensor>> outputs = RunKernel(device, call, op_case, dirt);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>();
  }

  static std::vector<TestTensor> RunAlone(const OpCase& op_case) {
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    EXPECT_TRUE(call.ok()) << call.status();
    return call.ok() ? RunOn(device(), op_case, *call, std::byte{0xFF}) : std::vector<TestTensor>();
  }

  static void ExpectSame(const std::vector<TestTensor>& a, const std::vector<TestTensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(SameBits(a[i], b[i])) << "output " << i;
  }

  static inline Engine* one_ = nullptr;
  static inline Engine* three_ = nullptr;
};

void ExpectClose(const Operator& op, const TestTensor& result, const Reference& reference) {
  const DType dtype = result.desc().dtype;
  const ErrorStats stats = Compare(result, reference);
  EXPECT_TRUE(stats.special_match)
      << "NaN or infinity at " << stats.worst << ": got " << result.At(stats.worst) << ", want "
      << reference.values[static_cast<size_t>(stats.worst)];
  EXPECT_LT(stats.mean, MeanThreshold(dtype));
  EXPECT_LT(stats.max, 10 * MeanThreshold(dtype)) << "at " << stats.worst;
  const double goal = UlpGoal(op.name, dtype);
  if (goal > 0) {
    EXPECT_LE(stats.max_ulp, goal) << "at " << stats.worst;
  }
}

TEST_P(ContractTest, MatchesTheReference) {
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    const std::vector<TestTensor> outputs = RunAlone(op_case);
    const std::vector<Reference> references = ReferenceOf(op_case);
    ASSERT_EQ(outputs.size(), references.size());
    for (size_t i = 0; i < outputs.size(); ++i) ExpectClose(*GetParam(), outputs[i], references[i]);
    if (HasFailure()) return;
  }
}

TEST_P(ContractTest, StaleMemoryDoesNotShow) {
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_TRUE(call.ok()) << call.status();
    ExpectSame(RunAlone(op_case), RunOn(device(), op_case, *call, std::byte{0x01}));
    if (HasFailure()) return;
  }
}

TEST_P(ContractTest, LayoutOfInputsDoesNotMatter) {
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    ExpectSame(RunAlone(op_case), RunAlone(Scattered(op_case)));
    if (HasFailure()) return;
  }
}

TEST_P(ContractTest, OutputsGoWhereTheyAreWanted) {
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_TRUE(call.ok()) << call.status();
    for (OutputSlot& slot : call->outputs) {
      slot.origin = OutputSlot::Origin::kGiven;
      slot.desc = TestTensor(slot.desc).Scattered(2).desc();
    }
    ASSERT_TRUE(PlanCall(*call).ok());
    ExpectSame(RunAlone(op_case), RunOn(device(), op_case, *call, std::byte{0xFF}));
    if (HasFailure()) return;
  }
}

TEST_P(ContractTest, ThreadsDoNotChangeABit) {
  for (const OpCase& op_case : CasesOf(*GetParam())) {
    SCOPED_TRACE(op_case.label);
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_TRUE(call.ok()) << call.status();
    ExpectSame(RunAlone(op_case), RunOn(*three_->devices()[0], op_case, *call, std::byte{0xFF}));
    if (HasFailure()) return;
  }
}

TEST_P(ContractTest, CompanyDoesNotChangeABit) {
  const std::vector<OpCase> cases = CasesOf(*GetParam());
  std::vector<std::future<absl::StatusOr<std::vector<TestTensor>>>> together;
  for (size_t i = 0; i < cases.size(); i += 7) {
    together.push_back(
        std::async(std::launch::async, [&cases, i] { return testing::Run(*three_, cases[i]); }));
  }
  for (size_t i = 0; i < together.size(); ++i) {
    const OpCase& op_case = cases[7 * i];
    SCOPED_TRACE(op_case.label);
    const absl::StatusOr<std::vector<TestTensor>> outputs = together[i].get();
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ExpectSame(RunAlone(op_case), *outputs);
  }
  EXPECT_EQ(three_->devices()[0]->memory().stats().used_bytes, 0);
}

TEST_P(ContractTest, EveryRequiredInputIsMissed) {
  const OpCase whole = CasesOf(*GetParam())[0];
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    if (GetParam()->inputs[i].presence == Presence::kOptional) continue;
    OpCase lacking = whole;
    lacking.inputs[i].reset();
    const absl::Status status = PlanCase(lacking).status();
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(detail->reason, ErrorReason::kParamNullptr);
    EXPECT_EQ(detail->parameter, GetParam()->inputs[i].name);
    EXPECT_EQ(detail->op, GetParam()->name);
  }
}

TEST_P(ContractTest, ProfilesDecide) {
  const OpCase op_case = CasesOf(*GetParam())[0];
  for (int i = 0; i < kNumProfiles; ++i) {
    const auto profile = static_cast<Profile>(i);
    const absl::Status status = PlanCase(op_case, profile).status();
    if (GetParam()->support[static_cast<size_t>(i)].empty()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    } else {
      EXPECT_TRUE(status.ok()) << ProfileName(profile) << ": " << status;
    }
  }
}

TEST_P(ContractTest, IsDocumented) {
  const Operator& op = *GetParam();
  EXPECT_FALSE(op.summary.empty());
  EXPECT_FALSE(op.description.empty());
  for (const TensorParam& param : op.inputs)
    EXPECT_FALSE(param.summary.empty() || param.shape.empty()) << param.name;
  for (const TensorParam& param : op.outputs)
    EXPECT_FALSE(param.summary.empty() || param.shape.empty()) << param.name;
  for (const AttributeParam& param : op.attributes)
    EXPECT_FALSE(param.summary.empty()) << param.name;
}

INSTANTIATE_TEST_SUITE_P(AllOperators, ContractTest,
                         ::testing::ValuesIn(AllOperators().begin(), AllOperators().end()),
                         [](const ::testing::TestParamInfo<const Operator*>& row) {
                           return std::string(row.param->name);
                         });

}  // namespace
}  // namespace opserve::testing
