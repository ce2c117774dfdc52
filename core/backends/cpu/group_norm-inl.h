// What the kernels of GroupNorm and GroupNormBackward share. Included once a SIMD target.

#include <algorithm>

#include "core/backends/cpu/group_norm_plan.h"
#include "core/backends/cpu/scratch.h"

#if defined(OPSERVE_CPU_GROUP_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_GROUP_NORM_INL_H_
#undef OPSERVE_CPU_GROUP_NORM_INL_H_
#else
#define OPSERVE_CPU_GROUP_NORM_INL_H_
#endif

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// A parameter of each channel as floats, each `repeats` times; `value` where it was not given.
template <typename T>
void LoadChannels(const KernelArgs& args, int input, float value, const GroupGeometry& geometry,
                  float* channels) {
  const int64_t repeats = geometry.repeats();
  const bool given = args.call.has_input(input);
  const StridedTensor tensor = given ? InputTensor(args, input) : StridedTensor();
  const auto load = [&](int64_t first, int64_t last) {
    float* out = channels + first * repeats;
    if (!given) {
      std::fill_n(out, (last - first) * repeats, value);
      return;
    }
    RunReader<T> reader(tensor);
    for (int64_t i = first; i < last; i += kPiece) {
      const auto run = static_cast<size_t>(std::min(kPiece, last - i));
      const T* values = reader.Read(i, run);
      for (size_t k = 0; k < run; ++k) out = std::fill_n(out, repeats, ToFloat(values[k]));
    }
  };
  const int64_t of_chunk = UnitsOfChunk(repeats);
  if (geometry.c <= of_chunk) return load(0, geometry.c);
  ParallelRanges(args.workers, geometry.c, of_chunk, load);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
