// What every file of vector kernels includes before Highway. The targets worth having are AVX2,
// AVX-512 (AVX3), those of other architectures, and one scalar fallback: below AVX2 Highway's half
// conversions are not right, and AVX3_DL adds nothing.
#pragma once

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
