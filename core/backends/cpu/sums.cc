#include "core/backends/cpu/sums.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/sums.cc"
#include "hwy/foreach_target.h"

#include <algorithm>
#include <utility>

#include "core/backends/cpu/sums-inl.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

void SumView(const KernelArgs& args, int input, const TensorDesc& space, const SumsPlan& plan,
             int output, double divisor) {
  ViewCall views(args);
  views.Take(input, space);
  const StridedTensor out = OutputTensor(args, output);
  Sums<1, Term>(views.args(), plan, out, Term(), divisor).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

constexpr int64_t kMostColumnSegments = 64;
// Rows that are added as floats first.
constexpr int64_t kRows = 4;

int64_t Parts(int64_t whole, int64_t part) { return whole / part + (whole % part != 0 ? 1 : 0); }

int64_t TermsOf(const Dims& shape, int64_t channels) {
  return channels == 0 ? 0 : NumElements(shape).value_or(0) / channels;
}

}  // namespace

SumsPlan::SumsPlan(int64_t outer, int64_t terms, int64_t inner)
    : outer_(outer),
      terms_(terms),
      inner_(inner),
      columns_(std::clamp<int64_t>(inner, 1, kColumns)),
      blocks_(Parts(inner, columns_)),
      segment_terms_(kChunk) {
  if (inner > 1) {
    const int64_t terms_of_chunk = std::max(kChunk / columns_, Parts(terms, kMostColumnSegments));
    segment_terms_ = Parts(terms_of_chunk, kRows) * kRows;
  }
  segments_ = std::max<int64_t>(1, Parts(terms, segment_terms_));
}

ChannelSpace::ChannelSpace(const Dims& shape, int64_t channels)
    // Those of (N, C) lie side by side.
    : swaps_(channels > 1 && !(shape.size() == 2 && channels >= SumsPlan::kMinInner)),
      sums_(channels > 1 && !swaps_ ? SumsPlan(1, shape[0], channels)
                                    : SumsPlan(channels, TermsOf(shape, channels), 1)) {}

TensorDesc ChannelSpace::View(const TensorDesc& desc) const {
  TensorDesc view = desc;
  if (!swaps_) return view;
  std::swap(view.shape[0], view.shape[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

HWY_EXPORT(SumView);

void SumInput(const KernelArgs& args, int input, const TensorDesc& space, const SumsPlan& plan,
              int output, double divisor) {
  HWY_DYNAMIC_DISPATCH(SumView)(args, input, space, plan, output, divisor);
}

size_t SumsPlan::bytes() const {
  ScratchPlan scratch;
  if (segments_ > 1) scratch.Take(sums() * segments_, sizeof(double));
  return scratch.bytes();
}

}  // namespace opserve::cpu
#endif
