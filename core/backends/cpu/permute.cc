// Permute: the elements of a view of its input, as they are.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/permute.cc"
#include "hwy/foreach_target.h"

#include <vector>

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

inline TensorDesc PermutedView(const OpCall& call) {
  TensorDesc view = call.input(0);
  const auto& dims = call.attribute<std::vector<int64_t>>(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto dim = static_cast<size_t>(dims[i] < 0 ? dims[i] + view.rank() : dims[i]);
    view.shape[i] = call.input(0).shape[dim];
    view.strides[i] = call.input(0).strides[dim];
  }
  return view;
}

template <typename T>
void CopyElements(const Workers& workers, const StridedTensor& from, const StridedTensor& to,
                  int64_t elements) {
  const Store store =
      IsStreamed(elements * static_cast<int64_t>(sizeof(T))) ? Store::kStreamed : Store::kCached;
  ParallelRanges(workers, NumPieces(elements), UnitsOfChunk(kPiece),
                 [&](int64_t first, int64_t last) {
                   RunReader<T> reader(from);
                   RunWriter<T> writer(to, first * kPiece, store);
                   for (int64_t piece = first; piece < last; ++piece) {
                     const int64_t begin = piece * kPiece;
                     const auto count = static_cast<size_t>(std::min(kPiece, elements - begin));
                     const T* in = reader.Read(begin, count);
                     std::memcpy(writer.Next(count), in, count * sizeof(T));
                   }
                 });
}

void Permute(const KernelArgs& args) {
  const StridedTensor from = InputTensor(args, 0, PermutedView(args.call));
  const StridedTensor to = OutputTensor(args, 0);
  const int64_t elements = args.call.output(0).desc.num_elements();
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    CopyElements<decltype(element)>(args.workers, from, to, elements);
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Permute, NoWorkspace);

}  // namespace opserve::cpu
#endif
