// Numbers that decay with e^x, which keep their precision in products. Included once a SIMD target.

#if defined(OPSERVE_CPU_DECAY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_DECAY_INL_H_
#undef OPSERVE_CPU_DECAY_INL_H_
#else
#define OPSERVE_CPU_DECAY_INL_H_
#endif

#include "core/backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// e^x of x <= 0, as a factor: what is multiplied by it keeps its precision where e^x alone, below
// e^−87, would not. Of a NaN it is some number.
class Decay {
 public:
  HWY_INLINE Decay(FloatTag d, FloatVec x) : deep_(hn::Lt(x, hn::Set(d, -80.0f))) {
    const FloatVec share = hn::IfThenElse(deep_, hn::Set(d, 0.5f), hn::Set(d, 1.0f));
    const FloatVec bounded = hn::Max(hn::Mul(x, share), hn::Set(d, -87.0f));
    root_ = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -300.0f)), ExpOfModerate(d, bounded));
  }

  HWY_INLINE FloatVec Times(FloatVec factor) const {
    const FloatVec once = hn::Mul(factor, root_);
    return hn::IfThenElse(deep_, hn::Mul(once, root_), once);
  }
  HWY_INLINE FloatVec value() const { return hn::IfThenElse(deep_, hn::Mul(root_, root_), root_); }

 private:
  hn::Mask<FloatTag> deep_;  // where root_ is the root of it
  FloatVec root_;
};

// e^x of x <= 0, as a factor, as Decay is: also of a product that is much larger than the result.
class DeepDecay {
 public:
  HWY_INLINE DeepDecay(FloatTag d, const SplitDouble& exponent) {
    const FloatVec x = exponent.value;
    const hn::RebindToSigned<FloatTag> di;
    const FloatVec least = hn::Set(d, -260.0f);
    IntVec n;
    const FloatVec r = ReduceByLn2(d, SplitDouble{hn::Max(x, least), exponent.further}, n);
    // Of 2ⁿ a third in each of three factors.
    const auto deep = hn::Lt(n, hn::Set(di, -115));
    const IntVec third = hn::IfThenElseZero(deep, hn::ShiftRight<8>(hn::Mul(n, hn::Set(di, 85))));
    step_ = PowerOfTwo(d, third);
    const FloatVec scale = PowerOfTwo(d, hn::Sub(n, hn::Add(third, third)));
    const FloatVec y = hn::Mul(hn::Add(Expm1Reduced(d, r), hn::Set(d, 1.0f)), scale);
    first_ = hn::IfThenZeroElse(hn::Lt(x, least), y);
  }
  HWY_INLINE DeepDecay(FloatTag d, FloatVec x) : DeepDecay(d, SplitDouble{x, hn::Zero(d)}) {}

  HWY_INLINE FloatVec Times(FloatVec factor) const {
    return hn::Mul(hn::Mul(hn::Mul(factor, first_), step_), step_);
  }
  // Of two factors, of which the first is at most about |x|.
  HWY_INLINE FloatVec Times(FloatVec factor, FloatVec other) const {
    return hn::Mul(hn::Mul(hn::Mul(factor, first_), hn::Mul(other, step_)), step_);
  }
  HWY_INLINE FloatVec value() const { return hn::Mul(hn::Mul(first_, step_), step_); }

 private:
  // e^x = first · step², step a power of two; 1 where e^x is no smaller than e^−80.
  FloatVec first_;
  FloatVec step_;
};

// A number, which decays in some lanes: a product with it keeps its precision.
class Decaying {
 public:
  // y, times the decay where `decays`.
  HWY_INLINE Decaying(hn::Mask<FloatTag> decays, const DeepDecay& decay, FloatVec y)
      : decays_(decays), decay_(decay), y_(y) {}

  HWY_INLINE FloatVec value() const { return hn::IfThenElse(decays_, decay_.Times(y_), y_); }
  HWY_INLINE FloatVec Times(FloatVec other) const {
    return hn::IfThenElse(decays_, decay_.Times(y_, other), hn::Mul(y_, other));
  }
  // The number times `factor`, which is no extreme one.
  HWY_INLINE Decaying Scaled(FloatVec factor) const {
    return Decaying(decays_, decay_, hn::Mul(y_, factor));
  }

 private:
  hn::Mask<FloatTag> decays_;
  DeepDecay decay_;
  FloatVec y_;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
