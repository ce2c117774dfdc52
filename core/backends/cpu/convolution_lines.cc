// y[p] = Σ w[i]·x[p + i] and w[i] = Σ y[p]·x[p + i], for a line of positions p at a time.
#include "core/backends/cpu/convolution_lines.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/convolution_lines.cc"
#include "hwy/foreach_target.h"

#include <algorithm>
#include <cstdlib>

#include "core/backends/cpu/convolution_taps-inl.h"
#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/runs-inl.h"

#ifndef OPSERVE_CPU_CONVOLUTION_LINES_ONCE
#define OPSERVE_CPU_CONVOLUTION_LINES_ONCE
namespace opserve::cpu {
namespace {

constexpr int64_t kMostRows = 8;
constexpr int64_t kMostTaps = 64;
// More rows only where places share lines, are few, and lines are long: else the block product is
// faster.
constexpr int64_t kRowsOfManyTaps = 4;
constexpr int64_t kMostTapsOfManyRows = 16;
constexpr int64_t kLeastRunOfManyRows = 12;
constexpr int64_t kMostLines = 32;
// Elements that the places of a kernel's row may lie apart.
constexpr int64_t kMostSpan = 64;
// A block's columns, what a line has more of them, and what a last pair of vectors reads.
constexpr int64_t kPairFloats = 32;
constexpr int64_t kRowFloats = kBlockCols + kPairFloats;
constexpr int64_t kLineFloats = kRowFloats + kMostSpan;

int64_t CountOfTaps(const ConvolutionTaps& taps) {
  const int64_t counts[] = {taps.channels, taps.kernel[0], taps.kernel[1], taps.kernel[2]};
  return NumElements(counts).value_or(kMostTaps + 1);
}

int64_t SpanOf(const ConvolutionTaps& taps) {
  return (taps.kernel[2] - 1) * std::abs(taps.maps[2].step);
}

// Whether the places of a kernel's row share a line: then positions that follow each other meet
// elements that do.
bool SharesLines(const ConvolutionTaps& taps) {
  return taps.maps[2].stride == 1 && taps.maps[2].divisor == 1 &&
         std::abs(taps.maps[2].step) <= kMostSpan && SpanOf(taps) <= kMostSpan;
}

}  // namespace
}  // namespace opserve::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// The lines that a run of positions meets, as floats. Of one thread.
template <typename T>
class TapLines {
 public:
  // Only what was written before is read.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  explicit TapLines(const ConvolutionTaps& taps)
      : taps_(taps),
        count_(CountOfTaps(taps)),
        places_(SharesLines(taps) ? taps.kernel[2] : 1),
        span_(places_ > 1 ? SpanOf(taps) : 0) {
    const int64_t step = taps.maps[2].step;
    // The place that meets the first element of a line.
    first_place_ = step < 0 ? places_ - 1 : 0;
    for (int64_t i = 0; i < count_; ++i) {
      const int64_t place = i % places_;
      starts_[i] = lines_ + i / places_ * kLineFloats + (place - first_place_) * step;
    }
  }
  TapLines(const TapLines&) = delete;
  TapLines& operator=(const TapLines&) = delete;

  int64_t count() const { return count_; }

  void Read(int64_t group, const TapPlace& at, int64_t count) {
    for (int64_t line = 0; line < count_ / places_; ++line) {
      const TapReader<T> reader(taps_, group, line * places_ + first_place_);
      reader.Read(at, 0, count + span_, lines_ + line * kLineFloats, 1);
    }
  }

  // What tap `i` meets at the run's first position.
  const float* operator[](int64_t i) const { return starts_[i]; }

 private:
  const ConvolutionTaps& taps_;
  const int64_t count_;
  const int64_t places_;  // that share a line
  const int64_t span_;
  int64_t first_place_;
  const float* starts_[kMostTaps];
  alignas(64) float lines_[kMostLines * kLineFloats];
};

// out[p] = Σ w[i]·taps[i][p], in pairs of vectors, also past `count`.
template <typename T>
HWY_INLINE void Convolve(const TapLines<T>& taps, const float* w, int64_t count, float* out) {
  const FloatTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t p = 0; p < count; p += 2 * lanes) {
    FloatVec sum0 = hn::Zero(d);
    FloatVec sum1 = sum0;
    for (int64_t i = 0; i < taps.count(); ++i) {
      const FloatVec factor = hn::Set(d, w[i]);
      const float* const x = taps[i] + p;
      sum0 = hn::MulAdd(factor, hn::LoadU(d, x), sum0);
      sum1 = hn::MulAdd(factor, hn::LoadU(d, x + lanes), sum1);
    }
    hn::StoreU(sum0, d, out + p);
    hn::StoreU(sum1, d, out + p + lanes);
  }
}

// Sums of a tap, one a lane of a vector.
inline constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(float);
using TapLanes = float[kLanes];

// sums[i] += y[p]·taps[i][p], lane by lane.
template <typename T>
HWY_INLINE void AddProducts(const TapLines<T>& taps, const float* y, int64_t count,
                            TapLanes* sums) {
  const FloatTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < taps.count(); ++i) {
    const float* const x = taps[i];
    FloatVec sum = hn::LoadU(d, sums[i]);
    int64_t p = 0;
    for (; p + lanes <= count; p += lanes)
      sum = hn::MulAdd(hn::LoadU(d, y + p), hn::LoadU(d, x + p), sum);
    if (p < count) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(count - p));
      sum = hn::MulAdd(hn::IfThenElseZero(rest, hn::LoadU(d, y + p)),
                       hn::IfThenElseZero(rest, hn::LoadU(d, x + p)), sum);
    }
    hn::StoreU(sum, d, sums[i]);
  }
}

// Nanoseconds or so that a block takes.
HWY_INLINE int64_t CostOfBlock(const ProductShape& shape, int64_t taps, int64_t cols) {
  return 128 + cols * (1 + taps * shape.rows / 8);
}

template <typename T>
void MultiplyLinesOf(const Workers& workers, const ProductShape& shape, const ConvolutionTaps& taps,
                     PackBlock a, StoreBlock store) {
  const int64_t blocks = (shape.cols + kBlockCols - 1) / kBlockCols;
  const int64_t cost = CostOfBlock(shape, shape.depth, std::min(shape.cols, kBlockCols));
  ParallelRanges(workers, shape.batch * blocks, std::max<int64_t>(1, kChunk / cost),
                 [&](int64_t first, int64_t last) {
                   Pace pace(workers);
                   TapLines<T> lines(taps);
                   float w[kMostRows * kMostTaps];
                   alignas(64) float out[kMostRows * kRowFloats];
                   for (int64_t i = first; i < last; ++i) {
                     const int64_t col = i % blocks * kBlockCols;
                     const MatrixBlock block = {i / blocks, 0, shape.rows, col,
                                                std::min(kBlockCols, shape.cols - col)};
                     a({block.batch, 0, shape.rows, 0, shape.depth}, w, {kMostTaps, 1});
                     ForEachTapRun(taps, TapPlaceOf(taps, col), block.cols,
                                   [&](const TapPlace& at, int64_t begin, int64_t count) {
                                     lines.Read(block.batch, at, count);
                                     for (int64_t r = 0; r < shape.rows; ++r) {
                                       Convolve(lines, w + r * kMostTaps, count,
                                                out + r * kRowFloats + begin);
                                     }
                                   });
                     if (!pace.Goes(cost)) return;
                     store(block, out, {kRowFloats, 1});
                   }
                 });
}

// The sums of one group over a part of the depth. Of one thread.
template <typename T>
class LineSums {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  LineSums(const ProductShape& shape, const ConvolutionTaps& taps, PackBlock a)
      : shape_(shape), taps_(taps), a_(a), lines_(taps) {}

  // Adds those of columns [col, col + cols) of A, at most a block's, to `sums`.
  void Add(int64_t group, int64_t col, int64_t cols, double* sums) {
    a_({group, 0, shape_.rows, col, cols}, y_, {kRowFloats, 1});
    for (int64_t r = 0; r < shape_.rows; ++r)
      std::fill_n(*Lanes(r), shape_.cols * static_cast<int64_t>(kLanes), 0.0F);
    ForEachTapRun(taps_, TapPlaceOf(taps_, col), cols,
                  [&](const TapPlace& at, int64_t begin, int64_t count) {
                    lines_.Read(group, at, count);
                    for (int64_t r = 0; r < shape_.rows; ++r)
                      AddProducts(lines_, y_ + r * kRowFloats + begin, count, Lanes(r));
                  });
    const FloatTag d;
    for (int64_t r = 0; r < shape_.rows; ++r) {
      for (int64_t i = 0; i < shape_.cols; ++i) {
        sums[r * shape_.cols + i] +=
            static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, Lanes(r)[i]))));
      }
    }
  }

 private:
  TapLanes* Lanes(int64_t row) { return lanes_ + row * kMostTaps; }

  const ProductShape& shape_;
  const ConvolutionTaps& taps_;
  const PackBlock a_;
  TapLines<T> lines_;
  alignas(64) float y_[kMostRows * kRowFloats] = {};
  alignas(64) TapLanes lanes_[kMostRows * kMostTaps];
};

template <typename T>
void SumSegments(const Workers& workers, const LineSumsPlan& plan, const ConvolutionTaps& taps,
                 PackBlock a, double* partials) {
  const ProductShape& shape = plan.shape();
  const int64_t cost = CostOfBlock(shape, shape.cols, kBlockCols);
  workers.ParallelFor(shape.batch * plan.segments(), [&](int64_t i) {
    Pace pace(workers);
    LineSums<T> lines(shape, taps, a);
    double sums[kMostRows * kMostTaps] = {};
    const int64_t begin = i % plan.segments() * plan.segment_depth();
    const int64_t end = std::min(begin + plan.segment_depth(), shape.depth);
    for (int64_t col = begin; col < end && !pace.stopped(); col += kBlockCols) {
      lines.Add(i / plan.segments(), col, std::min(kBlockCols, end - col), sums);
      pace.Goes(cost);
    }
    std::copy_n(sums, plan.elements(), partials + i * plan.elements());
  });
}

void RunMultiplyLines(const Workers& workers, const ProductShape& shape,
                      const ConvolutionTaps& taps, PackBlock a, StoreBlock store) {
  WithFloatType(taps.dtype, [&](auto element) {
    MultiplyLinesOf<decltype(element)>(workers, shape, taps, a, store);
  });
}

void RunSumLines(const Workers& workers, const LineSumsPlan& plan, const ConvolutionTaps& taps,
                 PackBlock a, double* partials) {
  WithFloatType(taps.dtype, [&](auto element) {
    SumSegments<decltype(element)>(workers, plan, taps, a, partials);
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

bool MadeByLines(const ConvolutionTaps& taps, int64_t rows) {
  const int64_t count = CountOfTaps(taps);
  const int64_t places = SharesLines(taps) ? taps.kernel[2] : 1;
  if (rows > kMostRows || count == 0 || count > kMostTaps) return false;
  if (rows > kRowsOfManyTaps &&
      (places == 1 || count > kMostTapsOfManyRows || taps.positions[2] < kLeastRunOfManyRows)) {
    return false;
  }
  return count / places <= kMostLines;
}

HWY_EXPORT(RunMultiplyLines);
HWY_EXPORT(RunSumLines);

void MultiplyLines(const Workers& workers, const ProductShape& shape, const ConvolutionTaps& taps,
                   PackBlock a, StoreBlock store) {
  HWY_DYNAMIC_DISPATCH(RunMultiplyLines)(workers, shape, taps, a, store);
}

LineSumsPlan::LineSumsPlan(const ProductShape& shape, ScratchPlan& scratch) : shape_(shape) {
  constexpr int64_t kMostSegments = 64;
  const int64_t chunk = kChunk / std::max<int64_t>(1, shape.rows * shape.cols / 8);
  const int64_t least = shape.depth / kMostSegments + 1;
  segment_depth_ = (std::max(chunk, least) + kBlockCols - 1) / kBlockCols * kBlockCols;
  segments_ = std::max<int64_t>(1, (shape.depth - 1) / segment_depth_ + 1);
  partials_ = scratch.Take(shape.batch * segments_ * elements(), sizeof(double));
}

void SumLines(const Workers& workers, const LineSumsPlan& plan, std::span<std::byte> workspace,
              const ConvolutionTaps& taps, PackBlock a, StoreBlock store) {
  auto* const partials = ScratchAt<double>(workspace, plan.partials());
  HWY_DYNAMIC_DISPATCH(RunSumLines)(workers, plan, taps, a, partials);
  const ProductShape& shape = plan.shape();
  workers.ParallelFor(shape.batch, [&](int64_t group) {
    float sums[kMostRows * kMostTaps];
    for (int64_t i = 0; i < plan.elements(); ++i) {
      double sum = 0;
      for (int64_t s = 0; s < plan.segments(); ++s)
        sum += partials[(group * plan.segments() + s) * plan.elements() + i];
      sums[i] = static_cast<float>(sum);
    }
    store({group, 0, shape.rows, 0, shape.cols}, sums, {shape.cols, 1});
  });
}

}  // namespace opserve::cpu
#endif
