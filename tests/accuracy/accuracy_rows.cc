#include "tests/accuracy/accuracy_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/accuracy/accuracy_cases.h"
#include "tests/accuracy/aten.h"
#include "tests/support/reference.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// `more` was measured over `count` elements, `stats` over `before`.
void Merge(ErrorStats& stats, int64_t before, const ErrorStats& more, int64_t count) {
  if (before + count == 0) return;
  stats.mean = (stats.mean * static_cast<double>(before) + more.mean * static_cast<double>(count)) /
               static_cast<double>(before + count);
  stats.max = std::max(stats.max, more.max);
  stats.max_ulp = std::max(stats.max_ulp, more.max_ulp);
  stats.special_match = stats.special_match && more.special_match;
}

}  // namespace

AccuracyRow& RowFor(std::vector<AccuracyRow>& rows, const OpCase& op_case, size_t output) {
  const std::string name(op_case.op->outputs[output].name);
  const DType dtype = op_case.inputs[0]->desc().dtype;
  for (AccuracyRow& row : rows) {
    if (row.output == name && row.label == op_case.label && row.dtype == dtype) return row;
  }
  AccuracyRow& row = rows.emplace_back();
  row.op = op_case.op;
  row.output = name;
  row.label = op_case.label;
  row.dtype = dtype;
  return row;
}

namespace {

void AddCase(Engine& engine, const OpCase& op_case, std::vector<AccuracyRow>& rows) {
  const absl::StatusOr<std::vector<TestTensor>> ours = Run(engine, op_case);
  ASSERT_THAT(ours, IsOk());
  const std::optional<std::vector<TestTensor>> aten = AtenOutputs(op_case);
  const std::vector<Reference> references = ReferenceOf(op_case);
  for (size_t i = 0; i < references.size(); ++i) {
    // What this call leaves out.
    if (references[i].values.empty()) continue;
    RowFor(rows, op_case, i)
        .Add((*ours)[i], aten.has_value() ? &(*aten)[i] : nullptr, references[i]);
  }
}

}  // namespace

std::string AccuracyRow::Name() const {
  std::string name =
      absl::StrCat(std::string(op->name), ".", output, " ", std::string(DTypeShortName(dtype)));
  if (!label.empty()) absl::StrAppend(&name, " ", label);
  return name;
}

void AccuracyRow::Add(const TestTensor& result, const TestTensor* aten_result,
                      const Reference& reference) {
  const auto count = static_cast<int64_t>(reference.values.size());
  Merge(ours, elements, Compare(result, reference), count);
  if (aten_result != nullptr) {
    if (!aten.has_value()) aten.emplace();
    Merge(*aten, elements, Compare(*aten_result, reference), count);
  }
  elements += count;
}

std::vector<AccuracyRow> MeasureAccuracy(const Operator& op) {
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  std::vector<AccuracyRow> rows;
  for (const OpCase& op_case : AccuracyCases(op)) AddCase(*engine, op_case, rows);
  return rows;
}

}  // namespace opserve::testing
