// Hardshrink: |x| ≤ λ ? 0 : x. HardshrinkBackward: |x| ≤ λ ? 0 : g. A NaN x or λ is in no
// comparison and lets pass.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/hardshrink.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/tensor/element.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// in[0] where the last input is outside the dead zone.
struct PassOutside {
  float lambda;

  template <size_t N>
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, N>& in) const {
    return hn::IfThenZeroElse(hn::Le(hn::Abs(in[N - 1]), hn::Set(d, lambda)), in[0]);
  }
};

// λ as it is compared with the inputs: rounded to their dtype, at least 0.
inline float RoundedLambda(const OpCall& call) {
  DType promoted = call.input(0).dtype;
  if (call.inputs.size() > 1) promoted = PromoteDTypes(promoted, call.input(1).dtype);
  // A floating dtype holds every number.
  std::byte element[sizeof(float)];
  StoreElement(promoted, call.attribute<double>(0), element).IgnoreError();
  const auto lambda = static_cast<float>(LoadAsDouble(promoted, element));
  return lambda < 0 ? 0.0f : lambda;
}

void Hardshrink(const KernelArgs& args) { Map<1>(args, PassOutside{RoundedLambda(args.call)}); }

void HardshrinkBackward(const KernelArgs& args) {
  Map<2>(args, PassOutside{RoundedLambda(args.call)});
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(Hardshrink, NoWorkspace);
OPSERVE_CPU_KERNEL(HardshrinkBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
