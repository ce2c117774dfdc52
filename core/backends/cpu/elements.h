// The half types as kernels see them in memory.
#pragma once

#include <cstdint>

#include "core/tensor/dtype.h"
#include "core/tensor/half.h"

namespace opserve::cpu {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float ToFloat(float value) { return value; }
inline float ToFloat(Float16 value) { return Float16ToFloat(value.bits); }
inline float ToFloat(BFloat16 value) { return BFloat16ToFloat(value.bits); }

inline void Round(float value, float& rounded) { rounded = value; }
inline void Round(float value, Float16& rounded) { rounded = {FloatToFloat16(value)}; }
inline void Round(float value, BFloat16& rounded) { rounded = {FloatToBFloat16(value)}; }

}  // namespace opserve::cpu
