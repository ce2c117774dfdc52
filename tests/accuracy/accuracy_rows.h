// Errors of opserve and of ATen against float64, a row for each output, dtype and label.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/reference.h"

namespace opserve::testing {

struct AccuracyRow {
  const Operator* op = nullptr;
  std::string output;
  std::string label;
  DType dtype = DType::kUndefined;
  int64_t elements = 0;
  ErrorStats ours;
  std::optional<ErrorStats> aten;

  // "GroupNorm.rstd f16 mean 10"
  std::string Name() const;

  // Counts another result; `aten_result` may be null, for all or for none.
  void Add(const TestTensor& result, const TestTensor* aten_result, const Reference& reference);
};

// The row of that output, which is added when it is not there.
AccuracyRow& RowFor(std::vector<AccuracyRow>& rows, const OpCase& op_case, size_t output);

// Runs the operator's accuracy cases on one CPU device, and ATen's where it is there.
std::vector<AccuracyRow> MeasureAccuracy(const Operator& op);

}  // namespace opserve::testing
