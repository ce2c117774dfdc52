// What the kernels that pad planes share. Included once a SIMD target.

#include <vector>

#if defined(OPSERVE_CPU_PAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_PAD_INL_H_
#undef OPSERVE_CPU_PAD_INL_H_
#else
#define OPSERVE_CPU_PAD_INL_H_
#endif

#include "core/backends/cpu/plane_moves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Attribute 0: what is before and behind, of the last dimension first. A plane of one dimension is
// a row.
template <PlaneAxis (*Axis)(int64_t in, int64_t out, int64_t before)>
struct PaddedAxes {
  PlaneAxis rows;
  PlaneAxis columns;

  PaddedAxes(const KernelArgs& args, const TensorDesc& in, const TensorDesc& out, size_t axes)
      : rows(PlaneAxis::Replicate(1, 1, 0)), columns(Along(args, in, out, 0)) {
    if (axes == 2) rows = Along(args, in, out, 1);
  }
  static PlaneAxis Along(const KernelArgs& args, const TensorDesc& in, const TensorDesc& out,
                         size_t from_back) {
    const auto& padding = args.call.attribute<std::vector<int64_t>>(0);
    const size_t dimension = in.shape.size() - 1 - from_back;
    return Axis(in.shape[dimension], out.shape[dimension], padding[2 * from_back]);
  }
};

template <PlaneAxis (*Axis)(int64_t in, int64_t out, int64_t before)>
void PadPlanes(const KernelArgs& args, size_t axes) {
  const PaddedAxes<Axis> padded(args, args.call.input(0), args.call.output(0).desc, axes);
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    PlaneMoves<decltype(element)>(args, padded.rows, padded.columns, axes).Run();
  });
}

template <PlaneAxis (*Axis)(int64_t in, int64_t out, int64_t before)>
void PadPlaneGradients(const KernelArgs& args, size_t axes) {
  const PaddedAxes<Axis> padded(args, args.call.output(0).desc, args.call.input(0), axes);
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    PlaneGradients<decltype(element)>(args, padded.rows, padded.columns).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
