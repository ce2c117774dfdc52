// Losses of samples whose targets are classes, one number of each sample's. Included once a SIMD
// target.

#include <algorithm>

#include "core/backends/cpu/class_targets.h"
#include "core/backends/cpu/indices.h"

#if defined(OPSERVE_CPU_CLASS_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_CLASS_SAMPLES_INL_H_
#undef OPSERVE_CPU_CLASS_SAMPLES_INL_H_
#else
#define OPSERVE_CPU_CLASS_SAMPLES_INL_H_
#endif

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// The tensors of a call by sample: inputs `self` of T, its target, and the weights of the classes,
// of W. Without weights each is 1.
template <typename T, typename W = T>
class ClassSamples {
 public:
  ClassSamples(const KernelArgs& args, int self)
      : ClassSamples(args, self, args.call.input(self),
                     reinterpret_cast<const T*>(args.inputs[static_cast<size_t>(self)])) {}

  // Of the gradient, whose elements lie as those of `desc`.
  ClassSamples(const KernelArgs& args, int self, const TensorDesc& desc, const T* data)
      : data_(data), samples_(desc) {
    const int64_t dim = desc.shape.size() == 1 ? 0 : 1;
    step_ = desc.strides[static_cast<size_t>(dim)];
    samples_.shape.erase(samples_.shape.begin() + dim);
    samples_.strides.erase(samples_.strides.begin() + dim);
    if (!args.call.has_input(self + 2)) return;
    const TensorDesc& weight = args.call.input(self + 2);
    weight_ = reinterpret_cast<const W*>(args.inputs[static_cast<size_t>(self) + 2]) +
              weight.storage_offset;
    weight_step_ = weight.strides[0];
  }

  float weight(int64_t of_class) const {
    return weight_ == nullptr ? 1.0f : ToFloat(weight_[of_class * weight_step_]);
  }

  // Calls visit(sample, class, where that class of the sample is) for samples [first, last), in
  // order.
  template <typename Visit>
  void ForEach(const ClassTargets& targets, int64_t first, int64_t last, const Visit& visit) const {
    int64_t classes[kIndexBlock];
    ElementCursor cursor(samples_, first);
    const int64_t step = cursor.step();
    for (int64_t i = first; i < last; i += kIndexBlock) {
      const int64_t count = std::min(kIndexBlock, last - i);
      targets.Read(i, std::span(classes).first(static_cast<size_t>(count)));
      for (int64_t k = 0; k < count;) {
        const int64_t run = std::min(cursor.left(), count - k);
        int64_t at = cursor.offset();
        for (const int64_t end = k + run; k < end; ++k, at += step)
          visit(i + k, classes[k], classes[k] < 0 ? 0 : at + classes[k] * step_);
        cursor.Skip(run);
      }
    }
  }

  float At(int64_t at) const { return ToFloat(data_[at]); }

 private:
  const T* data_;
  TensorDesc samples_;
  int64_t step_ = 0;
  const W* weight_ = nullptr;
  int64_t weight_step_ = 0;
};

// Sums sums(first, last) over chunks of samples, in order, by way of `scratch`.
template <typename Sums>
ClassSums SumSamples(const Workers& workers, std::span<std::byte> scratch, int64_t samples,
                     int64_t most_of_chunk, const Sums& sums) {
  // Even already: ParallelRanges leaves it as it is.
  const int64_t of_chunk = EvenChunk(samples, most_of_chunk);
  auto* parts = reinterpret_cast<ClassSums*>(scratch.data());
  ParallelRanges(workers, samples, of_chunk,
                 [&](int64_t first, int64_t last) { parts[first / of_chunk] = sums(first, last); });
  ClassSums total;
  Pace pace(workers);
  for (const auto [begin, end] : pace.InBlocks((samples + of_chunk - 1) / of_chunk)) {
    for (int64_t i = begin; i < end; ++i) {
      total.loss += parts[i].loss;
      total.weight += parts[i].weight;
    }
  }
  return total;
}

// The only element of an output, and of an input.
template <typename T>
void StoreNumber(const KernelArgs& args, int output, double value) {
  const StridedTensor tensor = OutputTensor(args, output);
  Round(static_cast<float>(value), *reinterpret_cast<T*>(tensor.operand.output));
}

template <typename T>
float NumberAt(const KernelArgs& args, int input) {
  const StridedTensor tensor = InputTensor(args, input);
  return ToFloat(*reinterpret_cast<const T*>(tensor.operand.input));
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
