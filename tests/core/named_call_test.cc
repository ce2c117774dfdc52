#include "core/op/named_call.h"

#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/errors.h"

namespace opserve {
namespace {

using testing::ExpectError;
using ::testing::HasSubstr;

NamedCall Sample() {
  NamedCall call;
  call.op = "SmoothL1LossBackward";
  for (const char* name : {"grad_out", "self", "target"}) {
    call.inputs.push_back({name, TensorDesc::Dense(DType::kFloat32, Dims{4, 2}), 0});
  }
  call.attributes.push_back({"reduction", int64_t{0}});
  return call;
}

absl::Status Bind(const NamedCall& call) {
  const absl::StatusOr<const Operator*> op = FindOperator(call.op);
  return op.ok() ? BindCall(call, **op, Profile::kHost).status() : op.status();
}

TEST(NamedCallTest, OrderDoesNotMatter) {
  NamedCall call = Sample();
  std::swap(call.inputs[0], call.inputs[2]);
  EXPECT_TRUE(Bind(call).ok());
}

TEST(NamedCallTest, AMisspeltNameGetsTheNearest) {
  NamedCall call = Sample();
  call.inputs[1].name = "slef";
  const absl::Status status = Bind(call);
  ExpectError(status, ErrorReason::kParamInvalid, "slef");
  EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean \"self\"?"));
  call = Sample();
  call.attributes[0].name = "reductoin";
  EXPECT_THAT(std::string(Bind(call).message()), HasSubstr("did you mean \"reduction\"?"));
  call = Sample();
  call.op = "SmoothL1LossBackwrad";
  EXPECT_EQ(Bind(call).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Bind(call).message()),
              HasSubstr("did you mean \"SmoothL1LossBackward\"?"));
}

TEST(NamedCallTest, NothingMayComeTwice) {
  NamedCall call = Sample();
  call.inputs.push_back(call.inputs[1]);
  ExpectError(Bind(call), ErrorReason::kParamInvalid, "self");
  call = Sample();
  call.attributes.push_back(call.attributes[0]);
  ExpectError(Bind(call), ErrorReason::kParamInvalid, "reduction");
  call = Sample();
  call.outputs = {{"grad_input", DType::kFloat32, std::nullopt},
                  {"grad_input", DType::kFloat32, std::nullopt}};
  ExpectError(Bind(call), ErrorReason::kParamInvalid, "grad_input");
}

TEST(NamedCallTest, AnAttributeHasAValueOfItsKind) {
  const Operator& op = **FindOperator("SmoothL1LossBackward");
  NamedCall call = Sample();
  call.attributes[0].value = std::monostate();
  ExpectError(Bind(call), ErrorReason::kParamInvalid, "reduction");
  call.attributes[0].value = 1.0;
  absl::StatusOr<BoundCall> bound = BindCall(call, op, Profile::kHost);
  ASSERT_TRUE(bound.ok());
  ExpectError(PlanCall(bound->call), ErrorReason::kParamInvalid, "reduction");
  call.attributes[0] = {"beta", int64_t{2}};
  bound = BindCall(call, op, Profile::kHost);
  ASSERT_TRUE(bound.ok());
  ASSERT_TRUE(PlanCall(bound->call).ok());
  EXPECT_EQ(bound->call.attribute<double>(1), 2.0);
  EXPECT_EQ(bound->call.attribute<int64_t>(0), 1);  // the default
}

}  // namespace
}  // namespace opserve
