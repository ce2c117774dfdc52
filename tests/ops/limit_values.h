// Values that the tests of operators share.
#pragma once

#include <limits>

namespace opserve::testing {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace opserve::testing
