// Rows of exponentials and their logarithms: what the softmax kernels share with CrossEntropyLoss.
// Included once a SIMD target.

#include <algorithm>
#include <cmath>
#include <limits>

#if defined(OPSERVE_CPU_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_SOFTMAX_INL_H_
#undef OPSERVE_CPU_SOFTMAX_INL_H_
#else
#define OPSERVE_CPU_SOFTMAX_INL_H_
#endif

#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// e^(x − shift), without the error of the difference's rounding, which e would multiply.
struct ExpAbove {
  float shift;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    const FloatVec s = hn::Set(d, shift);
    const FloatVec difference = hn::Sub(in[0], s);
    const FloatVec back = hn::Sub(difference, in[0]);
    const FloatVec further = hn::Sub(hn::Sub(in[0], hn::Sub(difference, back)), hn::Add(s, back));
    return Exp(d, SplitDouble{difference, further});
  }
};

// The largest of some elements; of NaN no matter what.
template <typename T>
HWY_INLINE float LargestOf(const T* x, size_t count) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec lowest = hn::Neg(hn::Inf(d));
  FloatVec a = lowest, b = lowest;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Max(a, LoadFloats(d, x + i));
    b = hn::Max(b, LoadFloats(d, x + i + lanes));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Max(a, LoadFloats(d, x + i));
  if (i < count) {
    const FloatVec last = LoadFirst(d, x + i, count - i);
    b = hn::Max(b, hn::IfThenElse(hn::FirstN(d, count - i), last, lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// What is taken off elements of which `largest` is the largest: where all are −∞, nothing, so that
// their exponentials are 0.
HWY_INLINE float ShiftOf(float largest) {
  return largest == -std::numeric_limits<float>::infinity() ? 0.0f : largest;
}

// The largest of some elements and Σ e^(x − largest).
struct SoftmaxPart {
  float largest;
  double sum;

  static void Add(SoftmaxPart& sum, const SoftmaxPart& next) {
    const float largest = std::max(sum.largest, next.largest);
    const auto scaled = [largest](const SoftmaxPart& part) {
      const double distance =
          static_cast<double>(ShiftOf(part.largest)) - static_cast<double>(ShiftOf(largest));
      // Of what has only −∞, 0 whatever the distance; NaN stays NaN.
      return part.sum == 0 ? 0.0 : part.sum * std::exp(distance);
    };
    sum = {largest, scaled(sum) + scaled(next)};
  }
};

// Each vector is added as doubles: beside the 1 of the largest, floats would lose what the
// logarithm of the sum is made of where the rest is small.
template <typename T>
HWY_INLINE SoftmaxPart ExponentialsOf(const Pointers<1, T>& in, size_t count) {
  const float largest = LargestOf(in[0], count);
  const ExpAbove exponential = {ShiftOf(largest)};
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  DoubleSum sum;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    sum.Add(d, Apply(exponential, d, std::array<FloatVec, 1>{LoadFloats(d, in[0] + i)}));
  if (i < count) {
    const std::array<FloatVec, 1> last = {LoadFirst(d, in[0] + i, count - i)};
    sum.Add(d, hn::IfThenElseZero(hn::FirstN(d, count - i), Apply(exponential, d, last)));
  }
  return {largest, sum.Total()};
}

struct LessBoth {
  float largest;
  float logarithm;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return hn::Sub(hn::Sub(in[0], hn::Set(d, largest)), hn::Set(d, logarithm));
  }
};

struct LogSoftmaxRows {
  using Part = SoftmaxPart;

  template <typename T>
  Part Of(const Pointers<1, T>& in, size_t count) const {
    return ExponentialsOf(in, count);
  }
  static void Add(Part& sum, const Part& next) { Part::Add(sum, next); }
  template <typename T>
  void Write(const Pointers<1, T>& in, T* out, size_t count, RowPlace /*place*/,
             const Part& part) const {
    MapRun<1, T>(LessBoth{part.largest, static_cast<float>(std::log(part.sum))}, in, out, count);
  }
  template <typename T>
  void Row(const Pointers<1, T>& in, T* out, size_t count, int64_t row) const {
    Write(in, out, count, {row, 0}, Of(in, count));
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
