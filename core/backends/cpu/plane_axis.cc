#include "core/backends/cpu/plane_axis.h"

#include <algorithm>
#include <cmath>

namespace opserve::cpu {
namespace {

__extension__ using Wide = unsigned __int128;

// a·b/c of numbers that are not negative; rounded down.
int64_t MultiplyDivide(int64_t a, int64_t b, int64_t c) {
  constexpr int64_t kSmall = int64_t{1} << 31;
  if (a < kSmall && b < kSmall) return a * b / c;
  return static_cast<int64_t>(static_cast<Wide>(a) * static_cast<Wide>(b) / static_cast<Wide>(c));
}

// The first of [0, count) of which `is_so` is true; it stays true. Looked for in growing steps from
// `near` on, then between the last two of them.
template <typename Predicate>
int64_t FirstOf(int64_t count, int64_t near, const Predicate& is_so) {
  int64_t low = 0;
  near = std::min(near, count);
  for (int64_t step = 1; near > low && near > 0; step *= 2) {
    const int64_t before = std::max<int64_t>(near - step, 0);
    if (!is_so(before)) {
      low = before + 1;
      break;
    }
    count = near = before;
  }
  for (int64_t step = 1; low < count; step *= 2) {
    const int64_t at = std::min(low + step - 1, count - 1);
    if (is_so(at)) {
      count = at;
      break;
    }
    low = at + 1;
  }
  while (low < count) {
    const int64_t middle = low + (count - low) / 2;
    if (is_so(middle)) {
      count = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

PlaneShape::PlaneShape(const TensorDesc& desc, size_t axes) {
  const size_t rank = desc.shape.size();
  width = desc.shape[rank - 1];
  if (axes == 2) height = desc.shape[rank - 2];
  planes = 1;
  for (size_t i = 0; i + axes < rank; ++i) planes = SaturatingProduct({planes, desc.shape[i]});
}

PlaneAxis PlaneAxis::Mean(int64_t in, int64_t out, const PlaneWindow& window, Divisor divisor) {
  PlaneAxis axis(Kind::kMean, in, out);
  axis.window_ = window;
  axis.divisor_ = divisor;
  return axis;
}

PlaneAxis PlaneAxis::Sum(int64_t in, int64_t out, const PlaneWindow& window, double weight) {
  PlaneAxis axis(Kind::kSum, in, out);
  axis.window_ = window;
  axis.weight_ = weight;
  return axis;
}

PlaneAxis PlaneAxis::Adaptive(int64_t in, int64_t out) { return {Kind::kAdaptive, in, out}; }

PlaneAxis PlaneAxis::Replicate(int64_t in, int64_t out, int64_t before) {
  PlaneAxis axis(Kind::kReplicate, in, out);
  axis.before_ = before;
  return axis;
}

PlaneAxis PlaneAxis::Reflect(int64_t in, int64_t out, int64_t before) {
  PlaneAxis axis(Kind::kReflect, in, out);
  axis.before_ = before;
  return axis;
}

PlaneAxis PlaneAxis::Nearest(int64_t in, int64_t out, double factor) {
  PlaneAxis axis(Kind::kNearest, in, out);
  axis.step_ = factor > 0 ? static_cast<float>(1.0 / factor)
                          : static_cast<float>(in) / static_cast<float>(out);
  if (axis.IsExact()) axis.step_ = out == in ? 1.0F : 0.5F;
  return axis;
}

PlaneAxis PlaneAxis::Linear(int64_t in, int64_t out, double factor, bool align_corners) {
  PlaneAxis axis(Kind::kLinear, in, out);
  axis.align_corners_ = align_corners;
  if (align_corners) {
    axis.exact_step_ = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  } else {
    axis.exact_step_ = factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
  }
  return axis;
}

AxisTaps PlaneAxis::At(int64_t output) const {
  switch (kind_) {
    case Kind::kMean:
    case Kind::kSum:
      return Window(output);
    case Kind::kAdaptive:
      return Share(output);
    case Kind::kLinear:
      return Interpolation(output);
    default: {
      const int64_t input = SingleInput(output);
      return {input, input + 1, 1, 0};
    }
  }
}

AxisTaps PlaneAxis::Window(int64_t output) const {
  const int64_t begin = window_.Begin(output);
  const int64_t end = begin + window_.kernel;
  AxisTaps taps = {std::max<int64_t>(begin, 0), std::min(end, in_), weight_, weight_};
  if (kind_ == Kind::kMean) {
    const int64_t of = divisor_ == Divisor::kWithPadding
                           ? std::min(end, in_ + window_.padding) - begin
                           : taps.end - taps.begin;
    taps.first = taps.rest = 1 / static_cast<double>(of);
  }
  return taps;
}

AxisTaps PlaneAxis::Share(int64_t output) const {
  const int64_t begin = MultiplyDivide(output, in_, out_);
  // Rounded up: (output + 1)·in/out.
  const int64_t end = in_ - MultiplyDivide(out_ - output - 1, in_, out_);
  const double weight = 1 / static_cast<double>(end - begin);
  return {begin, end, weight, weight};
}

AxisTaps PlaneAxis::Interpolation(int64_t output) const {
  if (in_ == out_) return {output, output + 1, 1, 0};
  const auto at = static_cast<double>(output);
  const double place =
      std::max(0.0, align_corners_ ? at * exact_step_ : (at + 0.5) * exact_step_ - 0.5);
  const bool is_last = !(place < static_cast<double>(in_ - 1));
  if (is_last) return {in_ - 1, in_, 1, 0};
  const auto begin = static_cast<int64_t>(place);
  const double second = place - static_cast<double>(begin);
  return {begin, std::min(begin + 2, in_), 1 - second, second};
}

int64_t PlaneAxis::SingleInput(int64_t output) const {
  if (kind_ == Kind::kNearest) {
    if (IsExact()) return out_ == in_ ? output : output / 2;
    const float place = output == 0 ? 0.0F : static_cast<float>(output) * step_;
    return place < 0x1p62F ? std::min(static_cast<int64_t>(place), in_ - 1) : in_ - 1;
  }
  const int64_t place = output - before_;
  if (kind_ == Kind::kReplicate) return std::clamp<int64_t>(place, 0, in_ - 1);
  return place < 0 ? -place : place < in_ ? place : 2 * (in_ - 1) - place;
}

AxisSpans PlaneAxis::OutputsOf(int64_t begin, int64_t end, const AxisSpans& near) const {
  if (kind_ == Kind::kReflect) return Mirrored(begin, end);
  if (kind_ == Kind::kMean || kind_ == Kind::kSum) return Windows(begin, end);
  AxisSpans spans;
  // Those whose share of the input, in units of 1/out, ends behind the first and begins before the
  // last one's end. Resampling to twice as many is the same as sharing.
  if (kind_ == Kind::kAdaptive || (kind_ == Kind::kNearest && IsExact())) {
    spans.Add(MultiplyDivide(begin, out_, in_), out_ - MultiplyDivide(in_ - end, out_, in_));
    return spans;
  }
  if (kind_ == Kind::kReplicate) {
    const auto clip = [&](int64_t output) { return std::clamp<int64_t>(output, 0, out_); };
    spans.Add(begin <= 0 ? 0 : clip(begin + before_), end >= in_ ? out_ : clip(end + before_));
    return spans;
  }
  const AxisSpan close = near.spans[0];
  spans.Add(FirstOf(out_, close.begin, [&](int64_t output) { return At(output).end > begin; }),
            FirstOf(out_, close.end, [&](int64_t output) { return At(output).begin >= end; }));
  return spans;
}

AxisSpans PlaneAxis::Windows(int64_t begin, int64_t end) const {
  // Of the windows that begin in order, `stride` apart: those that end behind the first input, and
  // those that begin before the last one's end.
  const auto windows = [&](int64_t reach) {
    return std::clamp<int64_t>((reach + window_.stride - 1) / window_.stride, 0, out_);
  };
  AxisSpans spans;
  spans.Add(windows(std::max<int64_t>(begin + 1 + window_.padding - window_.kernel, 0)),
            windows(end + window_.padding));
  return spans;
}

AxisSpans AxisSpans::Part(int64_t first, int64_t last) const {
  AxisSpans part;
  for (int i = 0; i < count; ++i) {
    const AxisSpan span = spans[i];
    part.Add(std::max(span.begin, span.begin + first), std::min(span.end, span.begin + last));
    first -= span.end - span.begin;
    last -= span.end - span.begin;
  }
  return part;
}

AxisSpans PlaneAxis::Mirrored(int64_t begin, int64_t end) const {
  // Places, from −before on, whose inputs these are: before the input, in it, behind it.
  const int64_t last = out_ - before_;
  const auto clip = [&](int64_t place, int64_t low, int64_t high) {
    return std::clamp(place, std::min(low, high), high) + before_;
  };
  AxisSpans spans;
  const int64_t left = std::min<int64_t>(0, last);
  spans.Add(clip(-end + 1, -before_, left), clip(-begin + 1, -before_, left));
  const int64_t middle = std::max<int64_t>(0, -before_);
  spans.Add(clip(begin, middle, std::min(in_, last)), clip(end, middle, std::min(in_, last)));
  const int64_t right = std::max(in_, -before_);
  spans.Add(clip(2 * (in_ - 1) - end + 1, right, last),
            clip(2 * (in_ - 1) - begin + 1, right, last));
  return spans;
}

int64_t PlaneAxis::Reach(int64_t outputs) const {
  switch (kind_) {
    case Kind::kMean:
    case Kind::kSum:
      return (outputs - 1) * window_.stride + window_.kernel;
    case Kind::kAdaptive:
      return MultiplyDivide(outputs, in_, out_) + 2;
    case Kind::kReplicate:
    case Kind::kReflect:
      return outputs;
    default: {
      const double step = kind_ == Kind::kNearest ? static_cast<double>(step_) : exact_step_;
      const double reach = step * static_cast<double>(outputs) + 3;
      return reach < static_cast<double>(in_) ? static_cast<int64_t>(reach) : in_;
    }
  }
}

}  // namespace opserve::cpu
