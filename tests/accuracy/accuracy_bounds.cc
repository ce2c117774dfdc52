#include "tests/accuracy/accuracy_bounds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace opserve::testing {
namespace {

void Hold(const AccuracyRow& row, std::string_view what, double got, double most,
          std::vector<std::string>& broken) {
  if (got <= most) return;
  broken.push_back(
      absl::StrCat(row.Name(), ": ", std::string(what), ": want <= ", most, ", got ", got));
}

}  // namespace

std::vector<std::string> BrokenBounds(const AccuracyRow& row) {
  std::vector<std::string> broken;
  if (!row.ours.special_match)
    broken.push_back(absl::StrCat(row.Name(), ": NaN or infinity in the wrong place"));
  Hold(row, "mean error", row.ours.mean, MeanThreshold(row.dtype), broken);
  Hold(row, "max error", row.ours.max, 10 * MeanThreshold(row.dtype), broken);
  const double goal = UlpGoal(*row.op, row.dtype);
  if (goal > 0) Hold(row, "max ulp", row.ours.max_ulp, goal, broken);
  return broken;
}

std::vector<std::string> WorseThanAten(const AccuracyRow& row) {
  std::vector<std::string> broken;
  if (!row.aten.has_value() || UlpGoal(*row.op, row.dtype) > 0) return broken;
  const double half_ulp = row.dtype == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
  const double chance =
      std::max(half_ulp / 8, 2 * half_ulp / std::sqrt(static_cast<double>(row.elements)));
  Hold(row, "mean error beside ATen's", row.ours.mean, kMeanSlack * row.aten->mean + chance,
       broken);
  if (DTypeSize(row.dtype) == 2) return broken;
  Hold(row, "max error beside ATen's", row.ours.max, kMaxSlack * row.aten->max + 2 * half_ulp,
       broken);
  return broken;
}

}  // namespace opserve::testing
