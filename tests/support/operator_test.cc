#include "tests/support/operator_test.h"

#include <functional>

#include "core/op/op_table.h"
#include "gtest/gtest.h"

namespace opserve::testing {

#define OPSERVE_OP(file, Name)             \
  namespace file {                         \
  extern const OperatorTest k##Name##Test; \
  }
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

const OperatorTest& TestOf(const Operator& op) {
  static constexpr const OperatorTest* kTests[] = {
#define OPSERVE_OP(file, Name) &file::k##Name##Test,
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
  };
  return *kTests[OperatorIndex(op)];
}

std::vector<OpCase> CasesOf(const Operator& op) {
  Rng rng = MakeRng(std::hash<std::string_view>()(op.name));
  std::vector<OpCase> cases = TestOf(op).cases(op, rng);
  EXPECT_FALSE(cases.empty()) << "no cases of " << op.name;
  return cases;
}

std::vector<LongCall> LongCallsOf(const Operator& op) {
  std::vector<LongCall> calls = TestOf(op).long_calls(op);
  EXPECT_FALSE(calls.empty()) << "no long calls of " << op.name;
  return calls;
}

std::vector<Reference> ReferenceOf(const OpCase& op_case) {
  return TestOf(*op_case.op).reference(op_case);
}

}  // namespace opserve::testing
