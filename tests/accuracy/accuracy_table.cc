// Writes the accuracy table as Markdown: accuracy_table FILE. Exits with 1 when a bound is broken.
#include <cstdio>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/op/op_table.h"
#include "tests/accuracy/accuracy_bounds.h"
#include "tests/accuracy/aten.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

constexpr const char* kHead = R"(# Accuracy

Made by `scripts/accuracy`, with the seed %d%s. Do not edit.

The reference is computed from the formula in float64 (CtcLoss: long double) on the same inputs. The error of an element
is its distance from the reference over the sum of the magnitudes of the terms that make it, so that cancellation is not
blamed on a kernel; one within half an output ulp (0.51 in a half type, which is rounded from the float result) counts as
exact. *ulp* is the largest distance in units of the last place of the output's dtype, of the elements that are not exact.
The ulp holds for element-wise operators: for the others the result may cancel to any size.

*ours/ATen* is the ratio of the mean errors, then of the maxima, on the same inputs; below 1 opserve is nearer to the
reference. "=" stands for no error on either side. ATen computes float16 in float32 here and rounds once, as it lacks most
of these operators in float16 on the CPU. GroupNorm: x of the given mean and variance 1, the moments those of the forward.
CtcLoss: T steps.

Held by `accuracy_test`: mean below 2^-13 (f32), 2^-10 (f16), 2^-7 (bf16), maxima below ten times that; the
ulps of element-wise operators in f32, where a half is exact: %s; half types bit for bit the float result rounded once;
GroupNorm and CtcLoss no worse than ATen by more than a factor of %g in the mean and %g in the maximum, beyond what
chance makes of single roundings (`tests/accuracy/accuracy_bounds.h`).

| output | dtype | inputs | elements | mean | max | ulp | ATen mean | max | ulp | ours/ATen mean | max |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
)";

// "L1Loss 1, L1LossBackward 1"
std::string UlpGoals() {
  std::vector<std::string> goals;
  for (const Operator* op : AllOperators()) {
    const double ulps = TestOf(*op).ulps;
    if (ulps > 0) goals.push_back(absl::StrCat(std::string(op->name), " ", ulps));
  }
  return absl::StrJoin(goals, ", ");
}

std::string Ratio(double ours, double aten) {
  if (aten > 0) return absl::StrFormat("%.2f", ours / aten);
  return ours > 0 ? "∞" : "=";
}

std::string Ulp(const AccuracyRow& row, const ErrorStats& stats) {
  return UlpGoal(*row.op, row.dtype) > 0 ? absl::StrFormat("%.2f", stats.max_ulp) : "";
}

std::string Line(const AccuracyRow& row) {
  std::string line =
      absl::StrFormat("| %s.%s | %s | %s | %d | %.1e | %.1e | %s |", std::string(row.op->name),
                      row.output, std::string(DTypeShortName(row.dtype)), row.label, row.elements,
                      row.ours.mean, row.ours.max, Ulp(row, row.ours));
  if (!row.aten.has_value()) return line + " | | | | |\n";
  return line + absl::StrFormat(" %.1e | %.1e | %s | %s | %s |\n", row.aten->mean, row.aten->max,
                                Ulp(row, *row.aten), Ratio(row.ours.mean, row.aten->mean),
                                Ratio(row.ours.max, row.aten->max));
}

int WriteTable(const char* path) {
  std::ofstream file(path);
  const std::string peer = AtenVersion().empty() ? "" : ", beside ATen of PyTorch " + AtenVersion();
  file << absl::StrFormat(absl::ParsedFormat<'d', 's', 's', 'g', 'g'>(kHead), TestSeed(), peer,
                          UlpGoals(), kMeanSlack, kMaxSlack);
  int broken_bounds = 0;
  for (const Operator* op : AllOperators()) {
    for (const AccuracyRow& row : MeasureAccuracy(*op)) {
      file << Line(row);
      for (const auto& broken : {BrokenBounds(row), WorseThanAten(row)}) {
        for (const std::string& line : broken) std::cerr << line << "\n";
        broken_bounds += static_cast<int>(broken.size());
      }
    }
  }
  file.flush();
  if (!file) std::cerr << path << ": cannot write\n";
  return broken_bounds == 0 && file ? 0 : 1;
}

}  // namespace
}  // namespace opserve::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "Usage: accuracy_table FILE   (OPSERVE_TEST_SEED: the seed of the inputs)\n";
    return 2;
  }
  return opserve::testing::WriteTable(argv[1]);
}
