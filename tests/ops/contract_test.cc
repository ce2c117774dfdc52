// What every operator of the table keeps: it is right, writes what it owes and nothing else, and
// gives the same bits whatever the layout of its tensors, the thread count, the state of its
// workspace and its company.
#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "gtest/gtest.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class ContractTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static void SetUpTestSuite() {
    one_ = MakeEngine(1).release();
    three_ = MakeEngine(3).release();
  }
  static void TearDownTestSuite() {
    cases_.clear();
    alone_.clear();
    delete one_;
    delete three_;
  }

  static Device& device() { return *one_->devices()[0]; }

  // Made once for all tests of an operator.
  static const std::vector<OpCase>& Cases() {
    std::vector<OpCase>& cases = cases_[GetParam()];
    if (cases.empty()) cases = CasesOf(*GetParam());
    return cases;
  }

  // What Cases()[i] gives on one thread: run once for all tests of an operator.
  static const std::vector<TestTensor>& Alone(size_t i) {
    std::vector<std::vector<TestTensor>>& alone = alone_[GetParam()];
    alone.resize(Cases().size());
    if (alone[i].empty()) alone[i] = RunAlone(Cases()[i]);
    return alone[i];
  }

  static std::vector<TestTensor> RunOn(Device& device, const OpCase& op_case, const OpCall& call,
                                       std::byte dirt) {
    absl::StatusOr<std::vector<TestTensor>> outputs = RunKernel(device, call, op_case, dirt);
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? *std::move(outputs) : std::vector<TestTensor>();
  }

  static std::vector<TestTensor> RunAlone(const OpCase& op_case) {
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    EXPECT_THAT(call, IsOk());
    return call.ok() ? RunOn(device(), op_case, *call, std::byte{0xFF}) : std::vector<TestTensor>();
  }

  static void ExpectSame(const std::vector<TestTensor>& a, const std::vector<TestTensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(SameBits(a[i], b[i])) << "output " << i;
  }

  // body(case, index) for each, until it fails.
  template <typename Body>
  static void ForEachCase(const Body& body) {
    for (size_t i = 0; i < Cases().size(); ++i) {
      SCOPED_TRACE(Cases()[i].label);
      body(Cases()[i], Alone(i));
      if (HasFailure()) return;
    }
  }

  static inline std::map<const Operator*, std::vector<OpCase>> cases_;
  static inline std::map<const Operator*, std::vector<std::vector<TestTensor>>> alone_;
  static inline Engine* one_ = nullptr;
  static inline Engine* three_ = nullptr;
};

// A goal is an element's. Of L1Loss's mean or sum, every term is rounded before the result is, and
// with a scalar among the inputs all may be rounded the same way.
double GoalOf(const OpCase& op_case, DType dtype) {
  const bool is_sum = op_case.op->name == "L1Loss" && dtype == DType::kFloat32 &&
                      std::get<int64_t>(op_case.attributes[0]) != 0;
  return UlpGoal(*op_case.op, dtype) + (is_sum ? 1 : 0);
}

void ExpectClose(const OpCase& op_case, const TestTensor& result, const Reference& reference) {
  const DType dtype = result.desc().dtype;
  const ErrorStats stats = Compare(result, reference);
  EXPECT_TRUE(stats.special_match)
      << "NaN or infinity at " << stats.worst << ": got " << result.At(stats.worst) << ", want "
      << reference.values[static_cast<size_t>(stats.worst)];
  EXPECT_LT(stats.mean, MeanThreshold(dtype));
  EXPECT_LT(stats.max, 10 * MeanThreshold(dtype)) << "at " << stats.worst;
  const double goal = GoalOf(op_case, dtype);
  if (goal > 0) {
    EXPECT_LE(stats.max_ulp, goal) << "at " << stats.worst;
  }
}

TEST_P(ContractTest, MatchesTheReference) {
  ForEachCase([](const OpCase& op_case, const std::vector<TestTensor>& alone) {
    const std::vector<Reference> references = ReferenceOf(op_case);
    ASSERT_EQ(alone.size(), references.size());
    for (size_t i = 0; i < alone.size(); ++i) ExpectClose(op_case, alone[i], references[i]);
  });
}

TEST_P(ContractTest, StaleMemoryDoesNotShow) {
  ForEachCase([](const OpCase& op_case, const std::vector<TestTensor>& alone) {
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_THAT(call, IsOk());
    ExpectSame(alone, RunOn(device(), op_case, *call, std::byte{0x01}));
  });
}

TEST_P(ContractTest, LayoutOfInputsDoesNotMatter) {
  ForEachCase([](const OpCase& op_case, const std::vector<TestTensor>& alone) {
    ExpectSame(alone, RunAlone(Scattered(op_case)));
  });
}

TEST_P(ContractTest, OutputsGoWhereTheyAreWanted) {
  ForEachCase([](const OpCase& op_case, const std::vector<TestTensor>& alone) {
    absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_THAT(call, IsOk());
    for (OutputSlot& slot : call->outputs) {
      slot.origin = OutputSlot::Origin::kGiven;
      slot.desc = TestTensor(slot.desc).Scattered(2).desc();
    }
    ASSERT_THAT(PlanCall(*call), IsOk());
    ExpectSame(alone, RunOn(device(), op_case, *call, std::byte{0xFF}));
  });
}

TEST_P(ContractTest, ThreadsDoNotChangeABit) {
  ForEachCase([](const OpCase& op_case, const std::vector<TestTensor>& alone) {
    const absl::StatusOr<OpCall> call = PlanCase(op_case);
    ASSERT_THAT(call, IsOk());
    ExpectSame(alone, RunOn(*three_->devices()[0], op_case, *call, std::byte{0xFF}));
  });
}

TEST_P(ContractTest, CompanyDoesNotChangeABit) {
  const std::vector<OpCase>& cases = Cases();
  std::vector<std::future<absl::StatusOr<std::vector<TestTensor>>>> together;
  for (size_t i = 0; i < cases.size(); i += 7) {
    together.push_back(
        std::async(std::launch::async, [&cases, i] { return testing::Run(*three_, cases[i]); }));
  }
  for (size_t i = 0; i < together.size(); ++i) {
    SCOPED_TRACE(cases[7 * i].label);
    const absl::StatusOr<std::vector<TestTensor>> outputs = together[i].get();
    ASSERT_THAT(outputs, IsOk());
    ExpectSame(Alone(7 * i), *outputs);
  }
  EXPECT_EQ(three_->devices()[0]->memory().stats().used_bytes, 0);
}

TEST_P(ContractTest, EveryRequiredInputIsMissed) {
  const OpCase& whole = Cases()[0];
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    if (GetParam()->inputs[i].presence == Presence::kOptional) continue;
    OpCase lacking = whole;
    lacking.inputs[i].reset();
    const absl::Status status = PlanCase(lacking).status();
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(AclnnCode(*detail), kParamNullptr);
    EXPECT_EQ(detail->parameter, GetParam()->inputs[i].name);
    EXPECT_EQ(detail->op, GetParam()->name);
  }
}

// Values that the schema does not allow, of the kind that it wants; `fit` is one that is.
std::vector<AttributeValue> Outside(const AttributeParam& param, const AttributeValue& fit) {
  std::vector<double> numbers;
  for (const AttributeChoice& choice : param.choices) {
    const double next = static_cast<double>(choice.value) + 1;
    numbers.insert(numbers.end(), {next, -next});
  }
  const auto is_choice = [&param](double number) {
    return std::any_of(param.choices.begin(), param.choices.end(), [number](const auto& choice) {
      return static_cast<double>(choice.value) == number;
    });
  };
  std::erase_if(numbers, is_choice);
  const AttributeRange range = param.range.value_or(AttributeRange());
  if (range.minimum.has_value()) numbers.push_back(*range.minimum - 1);
  if (range.maximum.has_value()) numbers.push_back(*range.maximum + 1);
  if (range.minimum.has_value() && range.minimum_excluded) numbers.push_back(*range.minimum);
  if (range.maximum.has_value() && range.maximum_excluded) numbers.push_back(*range.maximum);
  std::vector<AttributeValue> values;
  for (const double number : numbers) {
    AttributeValue& value = values.emplace_back(fit);
    if (auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      if (!ints->empty()) ints->back() = static_cast<int64_t>(number);
    } else if (param.kind == AttributeKind::kInt) {
      value = static_cast<int64_t>(number);
    } else {
      value = number;
    }
  }
  const bool is_float = param.kind == AttributeKind::kFloat || param.kind == AttributeKind::kScalar;
  if (is_float && param.range.has_value()) values.emplace_back(std::nan(""));
  return values;
}

TEST_P(ContractTest, AttributesKeepToTheirSchema) {
  const OpCase& whole = Cases()[0];
  for (size_t i = 0; i < whole.attributes.size(); ++i) {
    const AttributeParam& param = GetParam()->attributes[i];
    SCOPED_TRACE(param.name);
    const bool has_some = !param.choices.empty() || param.range.has_value();
    const std::vector<AttributeValue> outside = Outside(param, whole.attributes[i]);
    EXPECT_NE(outside.empty(), has_some);
    OpCase odd = whole;
    for (const AttributeValue& value : outside) {
      odd.attributes[i] = value;
      SCOPED_TRACE(AttributeInWords(value));
      ExpectError(PlanCase(odd).status(), ErrorReason::kOutOfRange, param.name);
    }
    const auto* mask = std::get_if<std::vector<bool>>(&whole.attributes[i]);
    if (param.list_length == 0 || mask == nullptr) continue;
    odd.attributes[i] = std::vector<bool>(static_cast<size_t>(param.list_length) + 1, true);
    ExpectError(PlanCase(odd).status(), ErrorReason::kInvalidParameter, param.name);
  }
}

TEST_P(ContractTest, ChoicesHaveNames) {
  const OpCase& whole = Cases()[0];
  for (size_t i = 0; i < whole.attributes.size(); ++i) {
    const AttributeParam& param = GetParam()->attributes[i];
    SCOPED_TRACE(param.name);
    OpCase named = whole;
    for (const AttributeChoice& choice : param.choices) {
      named.attributes[i] = std::string(choice.name);
      const absl::StatusOr<OpCall> call = PlanCase(named);
      ASSERT_THAT(call, IsOk());
      EXPECT_EQ(call->attributes[i], AttributeValue(choice.value));
    }
    named.attributes[i] = std::string("nonsense");
    ExpectError(PlanCase(named).status(),
                param.choices.empty() ? ErrorReason::kInvalidParameter : ErrorReason::kOutOfRange,
                param.name);
  }
}

// L1Loss promotes its inputs together: the error may name another one.
std::string BlamedFor(const TensorParam& param, const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  const bool together = detail.has_value() && detail->op.starts_with("L1Loss");
  return together ? detail->parameter : std::string(param.name);
}

TEST_P(ContractTest, OtherDTypesAreUnsupported) {
  const OpCase& whole = Cases()[0];
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    const TensorParam& param = GetParam()->inputs[i];
    for (int number = 1; number < kNumDTypes; ++number) {
      const auto dtype = static_cast<DType>(number);
      if (param.dtypes.Contains(dtype) || !whole.inputs[i].has_value()) continue;
      SCOPED_TRACE(std::string(param.name) + " of " + std::string(DTypeName(dtype)));
      OpCase odd = whole;
      odd.inputs[i] = TestTensor(TensorDesc::Dense(dtype, whole.inputs[i]->desc().shape));
      const absl::Status status = PlanCase(odd).status();
      ExpectError(status, ErrorReason::kDTypeUnsupported, BlamedFor(param, status));
    }
  }
}

TEST_P(ContractTest, OtherNamesAreUnknown) {
  const NamedCall good = ToNamedCall(Cases()[0]);
  const auto bind = [](const NamedCall& call) { return BindCall(call, Profile::kHost).status(); };
  ASSERT_THAT(bind(good), IsOk());
  NamedCall odd = good;
  odd.inputs.push_back({"nonsense", TensorDesc::Dense(DType::kFloat32, {}), 0});
  ExpectError(bind(odd), ErrorReason::kUnknownParameter, "nonsense");
  odd = good;
  odd.attributes.push_back({"nonsense", int64_t{0}});
  ExpectError(bind(odd), ErrorReason::kUnknownParameter, "nonsense");
  odd = good;
  odd.outputs.push_back({.name = "nonsense"});
  ExpectError(bind(odd), ErrorReason::kUnknownParameter, "nonsense");
}

TEST_P(ContractTest, ProfilesDecide) {
  const OpCase& op_case = Cases()[0];
  for (int i = 0; i < kNumProfiles; ++i) {
    const auto profile = static_cast<Profile>(i);
    const absl::Status status = PlanCase(op_case, profile).status();
    if (GetParam()->support[static_cast<size_t>(i)].empty()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    } else {
      EXPECT_THAT(status, IsOk()) << ProfileName(profile);
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
  for (const AttributeParam& param : op.attributes) {
    EXPECT_FALSE(param.summary.empty()) << param.name;
    for (const AttributeChoice& choice : param.choices)
      EXPECT_FALSE(choice.name.empty() || choice.summary.empty()) << param.name;
  }
}

INSTANTIATE_TEST_SUITE_P(AllOperators, ContractTest, ::testing::ValuesIn(OperatorsOfShard()),
                         [](const ::testing::TestParamInfo<const Operator*>& row) {
                           return std::string(row.param->name);
                         });

}  // namespace
}  // namespace opserve::testing
