// Vectors of float in and out of float, binary16 and bfloat16 memory, rounding to nearest even.
// Included once a SIMD target, inside no namespace; everything is in opserve::cpu::HWY_NAMESPACE.

#include <cstring>

#include "core/backends/cpu/elements.h"
#include "hwy/highway.h"

#if defined(OPSERVE_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_VECTOR_INL_H_
#undef OPSERVE_CPU_VECTOR_INL_H_
#else
#define OPSERVE_CPU_VECTOR_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// Highway's conversions of half types are exact where the instruction set has them; elsewhere ours
// are used lane by lane.
#undef OPSERVE_SIMD_HALF
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define OPSERVE_SIMD_HALF 0
#else
#define OPSERVE_SIMD_HALF 1
#endif

HWY_INLINE FloatVec LoadFloats(FloatTag d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE void StoreFloats(FloatVec v, FloatTag d, float* to) { hn::StoreU(v, d, to); }
// Past the caches; `to` is aligned to the bytes that a vector of its type takes.
HWY_INLINE void StreamFloats(FloatVec v, FloatTag d, float* to) { hn::Stream(v, d, to); }

#if OPSERVE_SIMD_HALF

using HalfTag = hn::Rebind<uint16_t, FloatTag>;

HWY_INLINE FloatVec LoadFloats(FloatTag d, const Float16* from) {
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  return hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(HalfTag(), &from->bits)));
}

HWY_INLINE FloatVec LoadFloats(FloatTag d, const BFloat16* from) {
  const hn::RebindToUnsigned<FloatTag> du;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(HalfTag(), &from->bits))));
}

HWY_INLINE hn::Vec<HalfTag> RoundTo(FloatVec v, FloatTag /*d*/, Float16 /*type*/) {
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  return hn::BitCast(HalfTag(), hn::DemoteTo(dh, v));
}

// The upper half of each lane is the rounded number; the lower half is of no account.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<FloatTag>> RoundInPlace(FloatVec v) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
}

HWY_INLINE hn::Vec<HalfTag> RoundTo(FloatVec v, FloatTag /*d*/, BFloat16 /*type*/) {
  const hn::RebindToSigned<FloatTag> di;
  return hn::DemoteTo(HalfTag(), hn::BitCast(di, hn::ShiftRight<16>(RoundInPlace(v))));
}

template <typename T>
HWY_INLINE void StoreFloats(FloatVec v, FloatTag d, T* to) {
  hn::StoreU(RoundTo(v, d, T()), HalfTag(), &to->bits);
}

template <typename T>
HWY_INLINE void StreamFloats(FloatVec v, FloatTag d, T* to) {
  hn::Stream(RoundTo(v, d, T()), HalfTag(), &to->bits);
}

#else

template <typename T>
HWY_INLINE FloatVec LoadFloats(FloatTag d, const T* from) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = ToFloat(from[i]);
  return hn::Load(d, lanes);
}

template <typename T>
HWY_INLINE void StoreFloats(FloatVec v, FloatTag d, T* to) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) Round(lanes[i], to[i]);
}

template <typename T>
HWY_INLINE void StreamFloats(FloatVec v, FloatTag d, T* to) {
  StoreFloats(v, d, to);
}

#endif

// Twice as many elements as a vector has lanes, in whatever order is cheapest; Load, Store and
// Stream agree about it.
struct FloatPair {
  FloatVec first;
  FloatVec second;
};

template <typename T>
HWY_INLINE FloatPair LoadPair(FloatTag d, const T* from) {
  return {LoadFloats(d, from), LoadFloats(d, from + hn::Lanes(d))};
}

template <typename T>
HWY_INLINE void StorePair(FloatPair v, FloatTag d, T* to) {
  StoreFloats(v.first, d, to);
  StoreFloats(v.second, d, to + hn::Lanes(d));
}

template <typename T>
HWY_INLINE void StreamPair(FloatPair v, FloatTag d, T* to) {
  StreamFloats(v.first, d, to);
  StreamFloats(v.second, d, to + hn::Lanes(d));
}

#if OPSERVE_SIMD_HALF

// bfloat16: the even elements first. Shifts and masks do it, no element changes its lane.
using PairTag = hn::Repartition<uint16_t, FloatTag>;

HWY_INLINE FloatPair LoadPair(FloatTag d, const BFloat16* from) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, hn::LoadU(PairTag(), &from->bits));
  return {hn::BitCast(d, hn::ShiftLeft<16>(bits)),
          hn::BitCast(d, hn::And(bits, hn::Set(du, 0xffff0000u)))};
}

HWY_INLINE hn::Vec<PairTag> RoundPair(FloatPair v) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto odd = hn::And(RoundInPlace(v.second), hn::Set(du, 0xffff0000u));
  return hn::BitCast(PairTag(), hn::Or(hn::ShiftRight<16>(RoundInPlace(v.first)), odd));
}

HWY_INLINE void StorePair(FloatPair v, FloatTag /*d*/, BFloat16* to) {
  hn::StoreU(RoundPair(v), PairTag(), &to->bits);
}

HWY_INLINE void StreamPair(FloatPair v, FloatTag /*d*/, BFloat16* to) {
  hn::Stream(RoundPair(v), PairTag(), &to->bits);
}

#endif

// Vectors past the end: `count` elements in memory, fewer than a vector; the other lanes are 0, or
// not written. On x86 masked-out lanes do not touch memory (AVX2: of 4 bytes and more, AVX3: any).
template <typename T>
HWY_INLINE FloatVec LoadFirst(FloatTag d, const T* from, size_t count) {
#if HWY_TARGET <= HWY_AVX3
  const hn::Rebind<uint16_t, FloatTag> dh;
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(hn::MaskedLoad(hn::FirstN(dh, count), dh, &from->bits), dh, &lanes->bits);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(lanes, from, count * sizeof(T));
#endif
  return LoadFloats(d, lanes);
}

template <typename T>
HWY_INLINE void StoreFirst(FloatVec v, FloatTag d, T* to, size_t count) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)];
  StoreFloats(v, d, lanes);
#if HWY_TARGET <= HWY_AVX3
  const hn::Rebind<uint16_t, FloatTag> dh;
  hn::BlendedStore(hn::Load(dh, &lanes->bits), hn::FirstN(dh, count), dh, &to->bits);
#else
  std::memcpy(to, lanes, count * sizeof(T));
#endif
}

#if HWY_TARGET <= HWY_AVX2
HWY_INLINE FloatVec LoadFirst(FloatTag d, const float* from, size_t count) {
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
}
HWY_INLINE void StoreFirst(FloatVec v, FloatTag d, float* to, size_t count) {
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
}
#endif

// Calls body(T()) with the element type of `dtype`.
template <typename Body>
void WithFloatType(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::kFloat16:
      return body(Float16());
    case DType::kBFloat16:
      return body(BFloat16());
    default:
      return body(float());
  }
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
