#include "core/backends/cpu/convolution_taps.h"

#include <algorithm>

#include "core/backends/cpu/matrix_view.h"

namespace opserve::cpu {
namespace {

void FillZeros(float* to, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i * step] = 0;
}

int64_t DivideUp(int64_t a, int64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

// Elements of a run that exist: the first position, its source, and their number.
struct Sources {
  int64_t position;
  int64_t source;
  int64_t count;
};

// Positions [begin, end) of which source = position * stride + shift lies in [0, extent).
Sources StridedSources(int64_t begin, int64_t end, int64_t stride, int64_t shift, int64_t extent) {
  const int64_t first = shift >= 0 ? begin : std::max(begin, DivideUp(-shift, stride));
  const int64_t past = extent - shift;
  const int64_t last = past <= 0 ? 0 : std::min(end, DivideUp(past, stride));
  return {first, first < last ? first * stride + shift : 0, last - first};
}

// Positions [begin, end) of which position + shift = source * stride, source in [0, extent).
Sources SpreadSources(int64_t begin, int64_t end, int64_t stride, int64_t shift, int64_t extent) {
  const int64_t source = DivideUp(std::max<int64_t>(begin + shift, 0), stride);
  if (source >= extent) return {begin, 0, 0};
  const int64_t position = source * stride - shift;
  if (position >= end) return {begin, 0, 0};
  return {position, source, std::min(DivideUp(end - position, stride), extent - source)};
}

}  // namespace

const std::byte* ConvolutionTaps::Advance(const std::byte* place, int64_t elements) const {
  return place + elements * static_cast<int64_t>(DTypeSize(dtype));
}

ConvolutionTaps::Tap ConvolutionTaps::TapAt(int64_t group, int64_t index) const {
  Tap tap = {};
  for (size_t dim = 3; dim > 0; --dim) {
    tap.place[dim - 1] = index % kernel[dim - 1];
    index /= kernel[dim - 1];
  }
  tap.channel = Advance(first, (group * channels + index) * channel_stride);
  return tap;
}

int64_t ConvolutionTaps::SourceAt(size_t dim, int64_t position, int64_t place) const {
  const ConvolutionSteps& by = steps[dim];
  const int64_t shift = place * by.dilation - by.padding;
  int64_t source = 0;
  if (from == From::kInput) {
    source = position * by.stride + shift;
  } else {
    if ((position - shift) % by.stride != 0) return -1;
    source = (position - shift) / by.stride;
  }
  return source >= 0 && source < extents[dim] ? source : -1;
}

void ConvolutionTaps::PackRun(const std::byte* row, int64_t place, int64_t position, int64_t count,
                              float* to, int64_t step) const {
  const ConvolutionSteps& by = steps[2];
  const int64_t shift = place * by.dilation - by.padding;
  const bool strided = from == From::kInput;
  const Sources sources =
      strided ? StridedSources(position, position + count, by.stride, shift, extents[2])
              : SpreadSources(position, position + count, by.stride, -shift, extents[2]);
  if (sources.count < count) FillZeros(to, step, count);
  if (sources.count <= 0) return;
  // Of a single element no distance is taken: it may be any number.
  const int64_t distance = sources.count == 1 ? 1 : by.stride;
  WidenRun(dtype, Advance(row, sources.source * strides[2]),
           strided && sources.count > 1 ? distance * strides[2] : strides[2], sources.count,
           to + (sources.position - position) * step, strided ? step : distance * step);
}

void ConvolutionTaps::PackRow(const Tap& tap, int64_t position, int64_t count, float* to,
                              int64_t step) const {
  while (count > 0) {
    const int64_t inner = position % positions[2];
    const int64_t run = std::min(count, positions[2] - inner);
    int64_t rest = position / positions[2];
    const int64_t middle = SourceAt(1, rest % positions[1], tap.place[1]);
    rest /= positions[1];
    const int64_t outer = SourceAt(0, rest % positions[0], tap.place[0]);
    const int64_t sample = rest / positions[0];
    if (middle < 0 || outer < 0) {
      FillZeros(to, step, run);
    } else {
      const int64_t offset = sample * batch_stride + outer * strides[0] + middle * strides[1];
      PackRun(Advance(tap.channel, offset), tap.place[2], inner, run, to, step);
    }
    position += run;
    count -= run;
    to += run * step;
  }
}

void ConvolutionTaps::Pack(const MatrixBlock& block, float* to, BlockSteps by) const {
  for (int64_t r = 0; r < block.rows; ++r) {
    PackRow(TapAt(block.batch, block.row + r), block.col, block.cols, to + r * by.row, by.col);
  }
}

}  // namespace opserve::cpu
