// GeGlu: gelu(b) and a gelu(b), a and b the halves of its input. GeGluBackward: g gelu, which is
// given, and g a gelu'(b).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/ge_glu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/gelu-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of a and b.
template <typename Form>
struct GeGluProduct {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    const FloatVec quick = hn::Mul(Form::ValueOfModerate(d, in[1]), in[0]);
    return QuickWhere(d, Within(d, in[1], Form::kModerate), quick,
                      [&]() HWY_ATTR { return Form::Value(d, in[1]).Times(in[0]); });
  }
};

// Of g and gelu.
struct GeGluGivenProduct {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[0], in[1]);
  }
};

// Of g, a and b.
template <typename Form>
struct GeGluGateGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    const FloatVec product = hn::Mul(in[0], in[1]);
    const FloatVec quick = hn::Mul(Form::SlopeOfModerate(d, in[2]), product);
    const auto moderate = hn::And(Within(d, in[2], Form::kModerate), IsFinite(d, product));
    return QuickWhere(d, moderate, quick,
                      [&]() HWY_ATTR { return Form::Slope(d, in[2]).Scaled(in[0]).Times(in[1]); });
  }
};

template <typename Form>
void GeGluBy(const KernelArgs& args) {
  const Halves self(args.call, args.call.input(0));
  ViewCall gelu(args);
  gelu.Take(0, self.second()).Make(1);
  Map<1>(gelu.args(), GeluOf<Form>());
  ViewCall out(args);
  out.Take(0, self.first()).Take(0, self.second()).Make(0);
  Map<2>(out.args(), GeGluProduct<Form>());
}

template <typename Form>
void GeGluGradientBy(const KernelArgs& args) {
  const Halves self(args.call, args.call.input(1));
  const Halves out(args.call, args.call.output(0).desc);
  ViewCall first(args);
  first.Take(0).Take(2).Make(0, out.first());
  Map<2>(first.args(), GeGluGivenProduct());
  ViewCall second(args);
  second.Take(0).Take(1, self.first()).Take(1, self.second()).Make(0, out.second());
  Map<3>(second.args(), GeGluGateGradient<Form>());
}

void GeGlu(const KernelArgs& args) {
  const bool exact = args.call.attribute<int64_t>(1) == 0;
  exact ? GeGluBy<GeluExact>(args) : GeGluBy<GeluByTanh>(args);
}

void GeGluBackward(const KernelArgs& args) {
  const bool exact = args.call.attribute<int64_t>(1) == 0;
  exact ? GeGluGradientBy<GeluExact>(args) : GeGluGradientBy<GeluByTanh>(args);
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(GeGlu, NoWorkspace);
OPSERVE_CPU_KERNEL(GeGluBackward, NoWorkspace);

}  // namespace opserve::cpu
#endif
