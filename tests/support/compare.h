// How far a result is from its reference.
#pragma once

#include "tests/support/reference.h"
#include "tests/support/test_tensor.h"

namespace opserve::testing {

struct ErrorStats {
  // Relative to the magnitudes, those of subnormal numbers to the smallest normal one.
  double mean = 0;
  double max = 0;
  double max_ulp = 0;         // in units of the last place of the output's dtype at the magnitude
  int64_t worst = -1;         // position of max
  bool special_match = true;  // NaN and infinities are where the reference has them
};

// An element within half an output ulp of the reference counts as exact; in a half type also one
// that is a few float ulps beyond, because half types are rounded from the float result.
ErrorStats Compare(const TestTensor& result, const Reference& reference);

// The vendor's acceptance thresholds: mean relative error below 2^-13 (f32), 2^-10 (f16), 2^-7
// (bf16); max ten times that.
double MeanThreshold(DType dtype);

// Largest error of an element that the operator's results may have, in output ulps; 0 where only
// the thresholds on mean and max hold.
double UlpGoal(const Operator& op, DType dtype);

// Distance between neighbouring numbers of `dtype` around `value`.
double UlpOf(DType dtype, double value);

// Same dtype, shape and bits.
bool SameBits(const TestTensor& a, const TestTensor& b);

}  // namespace opserve::testing
