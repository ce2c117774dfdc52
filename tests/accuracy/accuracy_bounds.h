// What the errors of the accuracy table are held to.
#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/accuracy_rows.h"

namespace opserve::testing {

// GroupNorm and CtcLoss may err by this much more than ATen on the same inputs: in the mean, and,
// where one element decides, in the maximum. Beyond that a mean may lie as far off as chance has
// it, at least by a sixteenth of a float32 ulp (float64's in float64) of the magnitudes, and a
// maximum by a whole one.
inline constexpr double kMeanSlack = 1.05;
inline constexpr double kMaxSlack = 1.5;

// One line for each bound that `row` breaks. The vendor's floor for all; the ulps that an
// element-wise operator may be off.
std::vector<std::string> BrokenBounds(const AccuracyRow& row);

// The same against ATen; empty where there is no ATen, and for element-wise operators, whose bounds
// are absolute. Of half types only the mean: they are float32's results rounded once.
std::vector<std::string> WorseThanAten(const AccuracyRow& row);

}  // namespace opserve::testing
