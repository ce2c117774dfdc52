#include "core/op/named_call.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using testing::ExpectError;
using ::testing::HasSubstr;
using testing::kParamInvalid;

NamedCall Sample() {
  NamedCall call;
  call.op = *FindOperator("SmoothL1LossBackward");
  for (const char* name : {"grad_out", "self", "target"}) {
    call.inputs.push_back({name, TensorDesc::Dense(DType::kFloat32, Dims{4, 2}), 0});
  }
  call.attributes.push_back({"reduction", int64_t{0}});
  return call;
}

absl::Status Bind(const NamedCall& call) { return BindCall(call, Profile::kHost).status(); }

TEST(NamedCallTest, OrderDoesNotMatter) {
  NamedCall call = Sample();
  std::swap(call.inputs[0], call.inputs[2]);
  EXPECT_THAT(Bind(call), testing::IsOk());
}

TEST(NamedCallTest, AMisspeltNameGetsTheNearest) {
  NamedCall call = Sample();
  call.inputs[1].name = "slef";
  const absl::Status status = Bind(call);
  ExpectError(status, kParamInvalid, "slef");
  EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean \"self\"?"));
  call = Sample();
  call.attributes[0].name = "reductoin";
  EXPECT_THAT(std::string(Bind(call).message()), HasSubstr("did you mean \"reduction\"?"));
  const absl::Status unknown = FindOperator("SmoothL1LossBackwrad").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("did you mean \"SmoothL1LossBackward\"?"));
}

TEST(NamedCallTest, AnOperatorWithoutAttributesSaysSo) {
  NamedCall call;
  call.op = *FindOperator("Relu");
  call.inputs.push_back({"self", TensorDesc::Dense(DType::kFloat32, Dims{4}), 0});
  call.attributes.push_back({"beta", 1.0});
  ExpectError(Bind(call), kParamInvalid, "beta");
  EXPECT_THAT(std::string(Bind(call).message()), HasSubstr("want no attribute, got an attribute"));
}

TEST(NamedCallTest, NothingMayComeTwice) {
  NamedCall call = Sample();
  call.inputs.push_back(call.inputs[1]);
  ExpectError(Bind(call), kParamInvalid, "self");
  call = Sample();
  call.attributes.push_back(call.attributes[0]);
  ExpectError(Bind(call), kParamInvalid, "reduction");
  call = Sample();
  call.outputs = {{"grad_input", DType::kFloat32, std::nullopt},
                  {"grad_input", DType::kFloat32, std::nullopt}};
  ExpectError(Bind(call), kParamInvalid, "grad_input");
}

TEST(NamedCallTest, AnAttributeHasAValueOfItsKind) {
  NamedCall call = Sample();
  call.attributes[0].value = std::monostate();
  ExpectError(Bind(call), kParamInvalid, "reduction");
  call.attributes[0].value = 1.0;
  absl::StatusOr<BoundCall> bound = BindCall(call, Profile::kHost);
  ASSERT_THAT(bound, testing::IsOk());
  ExpectError(PlanCall(bound->call), kParamInvalid, "reduction");
  call.attributes[0] = {"beta", int64_t{2}};
  bound = BindCall(call, Profile::kHost);
  ASSERT_THAT(bound, testing::IsOk());
  ASSERT_THAT(PlanCall(bound->call), testing::IsOk());
  EXPECT_EQ(bound->call.attribute<double>(1), 2.0);
  EXPECT_EQ(bound->call.attribute<int64_t>(0), 1);  // the default
}

TEST(NamedCallTest, AChoiceMayBeSaidByName) {
  NamedCall call = Sample();
  for (const auto& [name, value] : {std::pair("none", int64_t{0}), std::pair("mean", int64_t{1}),
                                    std::pair("sum", int64_t{2})}) {
    call.attributes[0].value = std::string(name);
    const absl::StatusOr<BoundCall> bound = BindCall(call, Profile::kHost);
    ASSERT_THAT(bound, testing::IsOk());
    EXPECT_EQ(bound->call.attribute<int64_t>(0), value);
  }
}

TEST(NamedCallTest, AnUnknownChoiceGetsTheNearest) {
  NamedCall call = Sample();
  call.attributes[0].value = std::string("maen");
  const absl::Status status = Bind(call);
  ExpectError(status, ErrorReason::kOutOfRange, "reduction");
  EXPECT_EQ(GetErrorDetail(status)->want, "0 (none), 1 (mean) or 2 (sum); did you mean \"mean\"?");
  EXPECT_EQ(GetErrorDetail(status)->got, "\"maen\"");
  for (const char* odd : {"", "1", "average"}) {
    call.attributes[0].value = std::string(odd);
    ExpectError(Bind(call), ErrorReason::kOutOfRange, "reduction");
    EXPECT_EQ(GetErrorDetail(Bind(call))->want, "0 (none), 1 (mean) or 2 (sum)") << odd;
  }
}

TEST(NamedCallTest, AStringIsNoOtherAttribute) {
  NamedCall call = Sample();
  call.attributes.push_back({"beta", std::string("mean")});
  absl::StatusOr<BoundCall> bound = BindCall(call, Profile::kHost);
  ASSERT_THAT(bound, testing::IsOk());
  const absl::Status status = PlanCall(bound->call);
  ExpectError(status, ErrorReason::kInvalidParameter, "beta");
  EXPECT_EQ(GetErrorDetail(status)->got, "the string \"mean\"");
}

TEST(NamedCallTest, NothingMayComeTwiceByNameEither) {
  NamedCall call = Sample();
  call.attributes.push_back({"reduction", std::string("none")});
  ExpectError(Bind(call), ErrorReason::kInvalidParameter, "reduction");
}

TEST(RangeTest, SaysAndContainsTheSame) {
  const double nan = std::nan("");
  const AttributeRange between = {.minimum = 0, .maximum = 1, .maximum_excluded = true};
  EXPECT_EQ(RangeInWords(between), "in [0, 1)");
  EXPECT_TRUE(between.Contains(0) && between.Contains(0.5));
  EXPECT_FALSE(between.Contains(1) || between.Contains(-1e-300) || between.Contains(nan));
  const AttributeRange below = {.maximum = 0.5};
  EXPECT_EQ(RangeInWords(below), "<= 0.5");
  EXPECT_TRUE(below.Contains(0.5) && below.Contains(-INFINITY));
  EXPECT_FALSE(below.Contains(0.75) || below.Contains(nan));
  EXPECT_EQ(RangeInWords(kPositive), "> 0");
  EXPECT_FALSE(kPositive.Contains(0));
  EXPECT_EQ(RangeInWords(kNotNegative), ">= 0");
  EXPECT_TRUE(kNotNegative.Contains(INFINITY) && kNotNegative.Contains(-0.0));
}

}  // namespace
}  // namespace opserve
