// What the kernels of the norms and their gradients share. Included once a SIMD target.

#include <algorithm>
#include <cstring>

#include "core/backends/cpu/norm_plan.h"
#include "core/backends/cpu/scratch.h"

#if defined(OPSERVE_CPU_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_NORM_INL_H_
#undef OPSERVE_CPU_NORM_INL_H_
#else
#define OPSERVE_CPU_NORM_INL_H_
#endif

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

inline StridedTensor NormInputTensor(const KernelArgs& args, const NormTensor& tensor) {
  return tensor.given() ? InputTensor(args, tensor.index, tensor.desc) : StridedTensor();
}
inline StridedTensor NormOutputTensor(const KernelArgs& args, const NormTensor& tensor) {
  return tensor.given() ? OutputTensor(args, tensor.index, tensor.desc) : StridedTensor();
}

// Single values of an input of any of the dtypes; `absent` where it is not there.
class ValueReader {
 public:
  explicit ValueReader(const StridedTensor& tensor, float absent = 0)
      : tensor_(tensor), absent_(absent) {}

  float At(int64_t index) const {
    if (tensor_.operand.input == nullptr) return absent_;
    float value = 0;
    WithFloatType(tensor_.operand.dtype, [&](auto element) {
      std::byte* bytes = reinterpret_cast<std::byte*>(&element);
      if (tensor_.linear()) {
        std::memcpy(bytes, tensor_.operand.input + index * static_cast<int64_t>(sizeof(element)),
                    sizeof(element));
      } else {
        GatherTile(tensor_.operand, tensor_.shape, index, 1, bytes);
      }
      value = ToFloat(element);
    });
    return value;
  }

 private:
  const StridedTensor& tensor_;
  const float absent_;
};

// Rounds single values into an output of any of the dtypes, where it is there.
class ValueWriter {
 public:
  explicit ValueWriter(const StridedTensor& tensor) : tensor_(tensor) {}

  void Write(int64_t index, double value) const {
    if (tensor_.operand.output == nullptr) return;
    WithFloatType(tensor_.operand.dtype, [&](auto element) {
      Round(static_cast<float>(value), element);
      const std::byte* bytes = reinterpret_cast<const std::byte*>(&element);
      if (tensor_.linear()) {
        std::memcpy(tensor_.operand.output + index * static_cast<int64_t>(sizeof(element)), bytes,
                    sizeof(element));
      } else {
        ScatterTile(tensor_.operand, tensor_.shape, index, 1, bytes);
      }
    });
  }

 private:
  const StridedTensor& tensor_;
};

// A parameter of each channel as floats, each `repeats` times; `value` where it is not there.
inline void LoadChannels(const KernelArgs& args, const NormTensor& parameter, float value,
                         const GroupGeometry& geometry, float* channels) {
  const int64_t repeats = geometry.repeats();
  const StridedTensor tensor = NormInputTensor(args, parameter);
  const auto load = [&](int64_t first, int64_t last) {
    float* out = channels + first * repeats;
    if (!parameter.given()) {
      std::fill_n(out, (last - first) * repeats, value);
      return;
    }
    WithFloatType(parameter.desc.dtype, [&](auto element) {
      RunReader<decltype(element)> reader(tensor);
      for (int64_t i = first; i < last; i += kPiece) {
        const auto run = static_cast<size_t>(std::min(kPiece, last - i));
        const auto* values = reader.Read(i, run);
        for (size_t k = 0; k < run; ++k) out = std::fill_n(out, repeats, ToFloat(values[k]));
      }
    });
  };
  const int64_t of_chunk = UnitsOfChunk(repeats);
  if (geometry.c <= of_chunk) return load(0, geometry.c);
  ParallelRanges(args.workers, geometry.c, of_chunk, load);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
