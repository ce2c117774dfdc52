// Values that the tests of operators share.
#pragma once

#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

namespace opserve::testing {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// More than any vector has, and no multiple of one.
inline constexpr size_t kMixedValues = 43;

// Numbers for each of which a kernel may have a form of its own, mixed; in another order for each
// `input`. With `only`, the one at that place everywhere.
inline std::vector<double> MixedValues(size_t input, std::optional<size_t> only) {
  constexpr double kValues[] = {0.25,  -0.75, 3,    -8,   11,         -12.75, 30,
                                -60,   79,    -81,  86,   -95,        -105,   1e20,
                                1e-20, -1e30, 1e35, -0.0, -kInfinity, kNaN};
  std::vector<double> values;
  for (size_t i = 0; i < kMixedValues; ++i)
    values.push_back(kValues[only.value_or(i) * (2 * input + 1) % std::size(kValues)]);
  return values;
}

inline bool SameNumber(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace opserve::testing
