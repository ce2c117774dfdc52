// What the kernels of CtcLoss and CtcLossBackward share: the lattice of a sample, its blanks and
// its labels in rows of their own (s = 2j and s = 2j + 1), in log space. Included once a SIMD
// target.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/backends/cpu/ctc_plan.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/read_once.h"
#include "core/backends/cpu/scratch.h"

#if defined(OPSERVE_CPU_CTC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_CTC_INL_H_
#undef OPSERVE_CPU_CTC_INL_H_
#else
#define OPSERVE_CPU_CTC_INL_H_
#endif

#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using VecOf = hn::Vec<Tag<T>>;

template <typename T>
constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();

// Vectors past the end, as LoadFirst and StoreFirst. `count` is at most a vector's lanes, which
// compilers do not see.
template <typename T>
HWY_INLINE VecOf<T> LoadPart(Tag<T> d, const T* from, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
  std::memcpy(lanes, from, std::min(count, hn::Lanes(d)) * sizeof(T));
  return hn::Load(d, lanes);
#endif
}

template <typename T>
HWY_INLINE void StorePart(VecOf<T> v, Tag<T> d, T* to, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, std::min(count, hn::Lanes(d)) * sizeof(T));
#endif
}

// ln(eᵃ + eᵇ)
template <typename T>
HWY_INLINE VecOf<T> LogSum(Tag<T> d, VecOf<T> a, VecOf<T> b) {
  const VecOf<T> high = hn::Max(a, b);
  const VecOf<T> low = hn::Min(a, b);
  // −∞ − −∞ would not be a number.
  const VecOf<T> base = hn::Max(high, hn::Set(d, std::numeric_limits<T>::lowest()));
  const VecOf<T> sum = hn::Add(hn::Set(d, T{1}), ExpNonPositive(d, hn::Sub(low, base)));
  // Max and Min may lose a NaN; the sum of all terms does not.
  const VecOf<T> terms = hn::Add(a, b);
  return hn::IfThenElse(hn::IsNaN(terms), terms, hn::Add(high, LogOneToTwo(d, sum)));
}

// ln(eᵃ + eᵇ + eᶜ)
template <typename T>
HWY_INLINE VecOf<T> LogSum(Tag<T> d, VecOf<T> a, VecOf<T> b, VecOf<T> c) {
  const VecOf<T> high_ab = hn::Max(a, b);
  const VecOf<T> low_ab = hn::Min(a, b);
  const VecOf<T> high = hn::Max(high_ab, c);
  const VecOf<T> low = hn::Min(high_ab, c);
  const VecOf<T> base = hn::Max(high, hn::Set(d, std::numeric_limits<T>::lowest()));
  VecOf<T> sum =
      hn::Add(ExpNonPositive(d, hn::Sub(low, base)), ExpNonPositive(d, hn::Sub(low_ab, base)));
  sum = hn::Add(sum, hn::Set(d, T{1}));
  const VecOf<T> terms = hn::Add(hn::Add(a, b), c);
  return hn::IfThenElse(hn::IsNaN(terms), terms, hn::Add(high, LogOneToThree(d, sum)));
}

// The larger lane; a NaN in `v` is passed over.
template <typename T>
HWY_INLINE VecOf<T> MaxNumber(VecOf<T> max, VecOf<T> v) {
  return hn::IfThenElse(hn::Gt(v, max), v, max);
}

// What a row is lowered by to keep the numbers of the next small: its largest, when that is a
// number.
template <typename T>
HWY_INLINE T ShiftOf(Tag<T> d, VecOf<T> max) {
  const T shift = hn::GetLane(hn::MaxOfLanes(d, max));
  return std::isfinite(shift) ? shift : T{0};
}

// A sum of doubles that forgets no digit that matters: high + low.
struct LongSum {
  double high = 0;
  double low = 0;

  void Add(double value) {
    const double sum = high + value;
    const double part = sum - high;
    // What the addition rounded off; not a number when the sum is infinite.
    const double rest = (high - (sum - part)) + (value - part);
    low += std::isfinite(sum) ? rest : 0;
    high = sum;
  }

  double value() const { return high + low; }
};

// A long sum as a sum of two T.
template <typename T>
struct Split {
  explicit Split(const LongSum& sum) : high(static_cast<T>(sum.high)) {
    if (std::isfinite(high)) low = static_cast<T>(sum.high - static_cast<double>(high) + sum.low);
  }
  T high;
  T low = 0;
};

// A (T, N, C) tensor, or (N, T, W): rows of the innermost dimension.
template <typename T>
struct Rows {
  T* first;
  int64_t outer;
  int64_t middle;
  int64_t inner;

  T* At(int64_t i, int64_t k) const { return first + i * outer + k * middle; }
};

template <typename T>
Rows<const T> InputRows(const KernelArgs& args, int input) {
  const TensorDesc& desc = args.call.input(input);
  const T* first =
      reinterpret_cast<const T*>(args.inputs[static_cast<size_t>(input)]) + desc.storage_offset;
  return {first, desc.strides[0], desc.strides[1], desc.shape[2] > 1 ? desc.strides[2] : 1};
}

template <typename T>
Rows<T> OutputRows(const KernelArgs& args, int output) {
  const TensorDesc& desc = args.call.output(output).desc;
  T* first = reinterpret_cast<T*>(args.outputs[static_cast<size_t>(output)]) + desc.storage_offset;
  return {first, desc.strides[0], desc.strides[1], desc.shape[2] > 1 ? desc.strides[2] : 1};
}

// Element b of a rank-1 input, read once.
template <typename T>
T InputAt(const KernelArgs& args, int input, int64_t b) {
  const TensorDesc& desc = args.call.input(input);
  const T* first = reinterpret_cast<const T*>(args.inputs[static_cast<size_t>(input)]);
  return ReadOnce(first + desc.storage_offset + b * desc.strides[0]);
}

struct CtcSample {
  int64_t index;
  int64_t steps;
  int64_t num_labels;
  const int64_t* labels;
};

inline CtcSample SampleAt(const KernelArgs& args, const CtcPlan& plan, int64_t b) {
  const auto i = static_cast<size_t>(b);
  return {b, args.call.attribute<std::vector<int64_t>>(0)[i],
          args.call.attribute<std::vector<int64_t>>(1)[i],
          ScratchAt<int64_t>(args.control, plan.labels) +
              ScratchAt<int64_t>(args.control, plan.starts)[b]};
}

template <typename T>
void FillPaced(T* to, int64_t count, T value, Pace& pace) {
  for (const auto [begin, end] : pace.InBlocks(count)) std::fill_n(to + begin, end - begin, value);
}

// Of a step of a sample that reads or writes so many classes, or cells of a row.
inline int64_t StepCost(const CtcSample& sample, int64_t row) {
  return kStepCost + kLatticeCost * sample.num_labels + kLabelCost * row;
}

// The scratch rows of a chunk: row(i)[j] for −kRowMargin <= j < plan.row − kRowMargin.
template <typename T>
class ScratchRows {
 public:
  ScratchRows(const KernelArgs& args, const CtcPlan& plan, int64_t chunk, int64_t rows)
      : first_(ScratchAt<T>(args.workspace, plan.rows) + chunk * rows * plan.row), row_(plan.row) {}

  T* row(int64_t i) const { return first_ + i * row_ + kRowMargin; }
  void Fill(int64_t i, T value, Pace& pace) const {
    FillPaced(first_ + i * row_, row_, value, pace);
  }

 private:
  T* const first_;
  const int64_t row_;
};

// Writes 1 where a path may skip the blank between label j and label j + distance, 0 elsewhere.
template <typename T>
void MarkSkips(const CtcSample& sample, int64_t distance, T* skips, Pace& pace) {
  for (const auto [begin, end] : pace.InBlocks(sample.num_labels)) {
    for (int64_t j = begin; j < end; ++j) {
      const int64_t other = j + distance;
      const bool inside = other >= 0 && other < sample.num_labels;
      skips[j] = inside && sample.labels[j] != sample.labels[other] ? T{1} : T{0};
    }
  }
}

// Gathers the labels' entries of a row of classes.
template <typename T>
HWY_INLINE void GatherLabels(const CtcSample& sample, const T* classes, int64_t stride, T* out,
                             Pace& pace) {
  for (const auto [begin, end] : pace.InBlocks(sample.num_labels, kLabelCost)) {
    for (int64_t j = begin; j < end; ++j) out[j] = classes[sample.labels[j] * stride];
  }
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
