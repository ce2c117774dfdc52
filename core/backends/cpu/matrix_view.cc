#include "core/backends/cpu/matrix_view.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/matrix_view.cc"
#include "hwy/foreach_target.h"

#include <algorithm>

#include "core/backends/cpu/runs-inl.h"
#include "core/backends/cpu/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T>
HWY_INLINE void RoundElements(const float* from, int64_t step, int64_t count, T* to,
                              int64_t stride) {
  int64_t i = 0;
  if (stride == 1 && step == 1) {
    const FloatTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) StoreFloats(hn::LoadU(d, from + i), d, to + i);
  }
  for (; i < count; ++i) Round(from[i * step], to[i * stride]);
}

// Calls visit(offset in the tensor, offset in the block, elements) for the runs along the columns,
// or along the rows where those lie side by side and these do not; `run_step` is where the block
// has the next.
template <typename Visit>
HWY_INLINE void ForEachRunOfBlock(const MatrixView& view, const MatrixBlock& block,
                                  BlockSteps steps, const Visit& visit) {
  const bool by_rows = view.rows.step() == 1 && view.cols.step() != 1 && block.rows > 1;
  const MatrixAxis& outer = by_rows ? view.cols : view.rows;
  const MatrixAxis& inner = by_rows ? view.rows : view.cols;
  const MatrixBlock at = by_rows ? block.Transposed() : block;
  const BlockSteps by = by_rows ? steps.Transposed() : steps;
  const int64_t base = view.batch.RunAt(block.batch).offset;
  for (int64_t i = 0; i < at.rows; ++i) {
    const int64_t begin = base + outer.RunAt(at.row + i).offset;
    for (int64_t j = 0; j < at.cols;) {
      const MatrixAxis::Run run = inner.RunAt(at.col + j);
      const int64_t count = std::min(run.count, at.cols - j);
      visit(begin + run.offset, inner.step(), i * by.row + j * by.col, by.col, count);
      j += count;
    }
  }
}

void PackAnyView(const MatrixView& view, const MatrixBlock& block, float* to, BlockSteps steps) {
  WithFloatType(view.dtype, [&](auto element) {
    const auto* from = reinterpret_cast<const decltype(element)*>(view.input);
    ForEachRunOfBlock(view, block, steps,
                      [&](int64_t offset, int64_t stride, int64_t at, int64_t step, int64_t count)
                          HWY_ATTR { WidenElements(from + offset, stride, count, to + at, step); });
  });
}

void StoreAnyView(const MatrixView& view, const MatrixBlock& block, const float* from,
                  BlockSteps steps) {
  WithFloatType(view.dtype, [&](auto element) {
    auto* to = reinterpret_cast<decltype(element)*>(view.output);
    ForEachRunOfBlock(view, block, steps,
                      [&](int64_t offset, int64_t stride, int64_t at, int64_t step, int64_t count)
                          HWY_ATTR { RoundElements(from + at, step, count, to + offset, stride); });
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

void MatrixAxis::Append(int64_t extent, int64_t stride) {
  if (extent == 1) return;
  int64_t whole = 0;
  const bool continues = !shape_.empty() && !__builtin_mul_overflow(stride, extent, &whole) &&
                         strides_.back() == whole;
  if (continues) {
    shape_.back() *= extent;
    strides_.back() = stride;
    return;
  }
  shape_.push_back(extent);
  strides_.push_back(stride);
}

MatrixAxis::Run MatrixAxis::RunAt(int64_t index) const {
  if (shape_.empty()) return {0, 1};
  if (shape_.size() == 1) return {index * strides_[0], shape_[0] - index};
  const size_t last = shape_.size() - 1;
  const int64_t at = index % shape_[last];
  int64_t offset = at * strides_[last];
  index /= shape_[last];
  for (size_t i = last; i > 0; --i) {
    offset += index % shape_[i - 1] * strides_[i - 1];
    index /= shape_[i - 1];
  }
  return {offset, shape_[last] - at};
}

namespace {

size_t BytesToFirst(const TensorDesc& desc) {
  return static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
}

}  // namespace

MatrixView ViewOfInput(const KernelArgs& args, int input) {
  const TensorDesc& desc = args.call.input(input);
  MatrixView view;
  view.input = args.inputs[static_cast<size_t>(input)] + BytesToFirst(desc);
  view.dtype = desc.dtype;
  return view;
}

MatrixView ViewOfOutput(const KernelArgs& args, int output) {
  const TensorDesc& desc = args.call.output(output).desc;
  MatrixView view;
  view.output = args.outputs[static_cast<size_t>(output)] + BytesToFirst(desc);
  view.dtype = desc.dtype;
  return view;
}

void AppendDims(const TensorDesc& desc, size_t first, size_t last, MatrixAxis& axis) {
  for (size_t i = first; i < last; ++i) axis.Append(desc.shape[i], desc.strides[i]);
}

HWY_EXPORT(PackAnyView);
HWY_EXPORT(StoreAnyView);

void PackView(const MatrixView& view, const MatrixBlock& block, float* to, BlockSteps steps) {
  HWY_DYNAMIC_DISPATCH(PackAnyView)(view, block, to, steps);
}

void StoreView(const MatrixView& view, const MatrixBlock& block, const float* from,
               BlockSteps steps) {
  HWY_DYNAMIC_DISPATCH(StoreAnyView)(view, block, from, steps);
}

}  // namespace opserve::cpu
#endif
