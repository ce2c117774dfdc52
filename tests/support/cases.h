// Valid calls of every operator over dtypes, shapes, layouts and attributes: what the contract
// tests run.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/op/named_call.h"
#include "core/op/operator.h"
#include "tests/support/test_tensor.h"

namespace opserve::testing {

struct OpCase {
  std::string label;
  const Operator* op = nullptr;
  std::vector<std::optional<TestTensor>> inputs;  // in schema order
  std::vector<AttributeValue> attributes;         // in schema order
  std::vector<DType> output_dtypes;               // asked for, in schema order; may be empty
};

void PrintTo(const OpCase& op_case, std::ostream* out);

// The cases of one operator; fails the test when there are none. Elements are drawn from the test
// seed.
std::vector<OpCase> CasesOf(const Operator& op);

// All operators, or every n-th of them from the k-th on where OPSERVE_TEST_SHARD is k/n: what the
// tests of each operator are instantiated with, so that a ctest entry has all tests of an operator
// or none (BY_OPERATOR in cmake/opserve.cmake).
std::vector<const Operator*> OperatorsOfShard();

// The case as callers write it; input i has storage i.
NamedCall ToNamedCall(const OpCase& op_case);

// The same case with every input scattered in memory.
OpCase Scattered(const OpCase& op_case);

}  // namespace opserve::testing
