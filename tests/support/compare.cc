#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/operator_test.h"

namespace opserve::testing {
namespace {

// Bits of the significand and the smallest exponent of a normal number.
struct Format {
  int digits;
  int min_exponent;
  double largest;
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {11, -14, 65504.0};
    case DType::kBFloat16:
      return {8, -126, 0x1.FEp127};
    case DType::kFloat64:
      return {53, -1022, std::numeric_limits<double>::max()};
    default:
      return {24, -126, static_cast<double>(std::numeric_limits<float>::max())};
  }
}

}  // namespace

double UlpOf(DType dtype, double value) {
  const Format format = FormatOf(dtype);
  const int exponent =
      value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1.0, exponent - format.digits + 1);
}

double MeanThreshold(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-10;
    case DType::kBFloat16:
      return 0x1p-7;
    case DType::kFloat64:
      return 0x1p-42;
    default:
      return 0x1p-13;
  }
}

double UlpGoal(const Operator& op, DType dtype) {
  const double f32 = TestOf(op).ulps;
  return f32 == 0 || dtype == DType::kFloat32 ? f32 : 0.51;
}

ErrorStats Compare(const TestTensor& result, const Reference& reference) {
  ErrorStats stats;
  EXPECT_EQ(static_cast<size_t>(result.count()), reference.values.size());
  const DType dtype = result.desc().dtype;
  const double largest = FormatOf(dtype).largest;
  for (int64_t i = 0; i < result.count(); ++i) {
    const double got = result.At(i);
    const double want = reference.values[static_cast<size_t>(i)];
    const bool overflows = std::fabs(want) >= largest + UlpOf(dtype, largest) / 2;
    if (std::isnan(want) || std::isinf(got) || std::isnan(got) || overflows) {
      const bool match = std::isnan(want) ? std::isnan(got)
                                          : overflows && std::isinf(got) && (got > 0) == (want > 0);
      if (!match) stats.worst = i;
      stats.special_match = stats.special_match && match;
      continue;
    }
    const double error = std::fabs(got - want);
    if (error <= UlpOf(dtype, want) * (DTypeSize(dtype) == 2 ? 0.51 : 0.5)) continue;
    const double magnitude = std::max(reference.magnitudes[static_cast<size_t>(i)],
                                      std::ldexp(1.0, FormatOf(dtype).min_exponent));
    stats.mean += error / magnitude;
    stats.max_ulp = std::max(stats.max_ulp, error / UlpOf(dtype, magnitude));
    if (error / magnitude > stats.max) {
      stats.max = error / magnitude;
      stats.worst = i;
    }
  }
  if (result.count() > 0) stats.mean /= static_cast<double>(result.count());
  return stats;
}

bool SameBits(const TestTensor& a, const TestTensor& b) {
  return a.desc().dtype == b.desc().dtype && a.desc().shape == b.desc().shape &&
         a.DenseBytes() == b.DenseBytes();
}

}  // namespace opserve::testing
