// MaxPool2dWithIndices: of each window the largest element, or its last NaN, and where in its plane
// that is. A piece of a row of windows at a time, over the rows and columns of all of them.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/max_pool2d_with_indices.cc"
#include "hwy/foreach_target.h"

#include <limits>

#include "core/backends/cpu/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// a/b rounded up, b > 0.
inline int64_t CeilOf(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : a / b; }

// Attributes: kernel_size, stride, padding, dilation, ceil_mode.
inline PlaneWindow DilatedWindow(const OpCall& call, size_t axis) {
  using Ints = std::vector<int64_t>;
  PlaneWindow window = PlaneWindow::Along(axis, call.attribute<Ints>(0), call.attribute<Ints>(1),
                                          call.attribute<Ints>(2));
  window.dilation = AlongAxis(call.attribute<Ints>(3), axis);
  return window;
}

// Elements of windows that lie in the input.
struct WindowElements {
  int64_t begin;
  int64_t end;

  // Those of the windows whose first elements lie from `first` to `last`.
  WindowElements(const PlaneWindow& window, int64_t first, int64_t last, int64_t extent)
      : begin(std::max<int64_t>(0, CeilOf(-last, window.dilation))),
        end(first >= extent ? 0
                            : std::min(window.kernel, (extent - 1 - first) / window.dilation + 1)) {
  }
};

template <typename T, typename Index>
class MaxPool {
 public:
  explicit MaxPool(const KernelArgs& args)
      : args_(args),
        rows_(DilatedWindow(args.call, 0)),
        columns_(DilatedWindow(args.call, 1)),
        in_(args.call.input(0), 2),
        out_(args.call.output(0).desc, 2),
        input_(InputTensor(args, 0)),
        output_(OutputTensor(args, 0)),
        indices_(OutputTensor(args, 1)),
        pieces_(out_, PieceWidth(), WorkOf(args)) {}

  void Run() {
    ParallelRanges(args_.workers, pieces_.count(), pieces_.of_chunk,
                   [&](int64_t first, int64_t last) {
                     Chunk chunk(*this, first);
                     for (int64_t i = first; i < last && !chunk.pace.stopped(); ++i)
                       PoolPiece(i, chunk);
                   });
  }

 private:
  struct Chunk {
    Chunk(const MaxPool& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          maxima(call.output_, call.pieces_.FirstElement(unit), Store::kCached),
          places(call.indices_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    FloatReader<T> reader;
    RunWriter<T> maxima;
    RunWriter<Index> places;
    alignas(64) float max[kPlanePiece] = {};
    alignas(64) Index place[kPlanePiece];
  };

  // The first elements of a piece's windows lie in half of what is read at once.
  int64_t PieceWidth() const {
    return std::max<int64_t>(1, (kPiece / 2 - 1) / columns_.stride + 1);
  }

  void PoolPiece(int64_t unit, Chunk& chunk) {
    const int64_t count = pieces_.Count(unit);
    const int64_t row = pieces_.Row(unit);
    const int64_t first_row = rows_.Begin(row % out_.height);
    const int64_t first_column = columns_.Begin(pieces_.Begin(unit));
    const int64_t last_column = first_column + (count - 1) * columns_.stride;
    const WindowElements down(rows_, first_row, first_row, in_.height);
    const WindowElements across(columns_, first_column, last_column, in_.width);
    Begin(first_row, down, first_column, count, chunk);
    chunk.pace.Goes(count);
    for (int64_t k = down.begin; k < down.end && chunk.pace.Goes(kPlaneRowCost); ++k)
      PoolRow(row / out_.height, first_row + k * rows_.dilation, first_column, across, count,
              chunk);
    if (chunk.pace.stopped()) return;
    StoreRun(chunk.max, count, chunk.maxima.Next(static_cast<size_t>(count)));
    std::copy_n(chunk.place, count, chunk.places.Next(static_cast<size_t>(count)));
  }

  // Each window's first element is its maximum as long as none is greater; −1 where it has none.
  void Begin(int64_t first_row, const WindowElements& down, int64_t first_column, int64_t count,
             Chunk& chunk) const {
    const int64_t row = (first_row + down.begin * rows_.dilation) * in_.width;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t column = first_column + i * columns_.stride;
      chunk.max[i] = -std::numeric_limits<float>::infinity();
      const int64_t place = down.begin < down.end ? FirstOfWindow(column) : -1;
      chunk.place[i] = static_cast<Index>(place < 0 ? -1 : row + place);
    }
  }

  // The first column in the input of the window that begins at `column`; −1 where there is none.
  HWY_INLINE int64_t FirstOfWindow(int64_t column) const {
    if (column >= in_.width) return -1;
    if (column >= 0) return column;
    const WindowElements across(columns_, column, column, in_.width);
    return across.begin < across.end ? column + across.begin * columns_.dilation : -1;
  }

  void PoolRow(int64_t plane, int64_t row, int64_t first_column, const WindowElements& across,
               int64_t count, Chunk& chunk) {
    // Columns of a window that are read together.
    const int64_t together = (kPiece - 1 - (count - 1) * columns_.stride) / columns_.dilation + 1;
    for (int64_t k = across.begin; k < across.end && chunk.pace.Goes(kPlaneRowCost);
         k += together) {
      const int64_t end = std::min(k + together, across.end);
      const int64_t first = std::max<int64_t>(0, first_column + k * columns_.dilation);
      const int64_t last = std::min(in_.width - 1, first_column + (count - 1) * columns_.stride +
                                                       (end - 1) * columns_.dilation);
      if (first > last) continue;
      const float* x =
          chunk.reader.Read((plane * in_.height + row) * in_.width + first, last - first + 1);
      for (int64_t j = k; j < end; ++j) {
        const int64_t column = first_column + j * columns_.dilation;
        PoolColumn(x, first, column, row * in_.width, count, chunk);
      }
      chunk.pace.Goes((end - k) * count);
    }
  }

  // One element of each window: those at `column`, and a stride from there each.
  HWY_INLINE void PoolColumn(const float* x, int64_t first, int64_t column, int64_t row,
                             int64_t count, Chunk& chunk) const {
    const int64_t stride = columns_.stride;
    const int64_t begin = std::max<int64_t>(0, CeilOf(-column, stride));
    const int64_t end =
        column >= in_.width ? 0 : std::min(count, (in_.width - 1 - column) / stride + 1);
    if (begin >= end) return;
    const int64_t from = column + begin * stride;
    int64_t i = begin;
    if (stride == 1) i = PoolVectors<1>(x + (from - first), row + from, begin, end, chunk);
    if (stride == 2) i = PoolVectors<2>(x + (from - first), row + from, begin, end, chunk);
    for (; i < end; ++i) {
      const int64_t at = column + i * stride;
      const float value = x[at - first];
      const bool wins = value > chunk.max[i] || value != value;
      chunk.max[i] = wins ? value : chunk.max[i];
      chunk.place[i] = wins ? static_cast<Index>(row + at) : chunk.place[i];
    }
  }

  // The same of as many windows as fill vectors, where `x` and `place` are of the first. Two
  // elements are read for each window of stride 2, the second of no use: so the last window is
  // left. Returns the first window that is left.
  template <int64_t kStride>
  HWY_INLINE static int64_t PoolVectors(const float* x, int64_t place, int64_t begin, int64_t end,
                                        Chunk& chunk) {
    const FloatTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = begin;
    for (; i + lanes < end; i += lanes) {
      FloatVec value;
      if constexpr (kStride == 1) {
        value = hn::LoadU(d, x + (i - begin));
      } else {
        FloatVec odd;
        hn::LoadInterleaved2(d, x + kStride * (i - begin), value, odd);
      }
      const FloatVec max = hn::LoadU(d, chunk.max + i);
      const auto wins = hn::Or(hn::Gt(value, max), hn::IsNaN(value));
      hn::StoreU(hn::IfThenElse(wins, value, max), d, chunk.max + i);
      PutPlaces(wins, place + kStride * (i - begin), kStride, chunk.place + i);
    }
    return i;
  }

  // to[i] = place + i·stride in the lanes that win.
  template <typename Mask>
  HWY_INLINE static void PutPlaces(Mask wins, int64_t place, int64_t stride, Index* to) {
    const hn::RebindToSigned<FloatTag> d32;
    const auto wins32 = hn::RebindMask(d32, wins);
    if constexpr (sizeof(Index) == sizeof(int32_t)) {
      PutLanes(d32, wins32, place, stride, to);
    } else {
      const hn::ScalableTag<Index> d64;
      alignas(64) int32_t flags[HWY_MAX_BYTES / sizeof(int32_t)];
      hn::Store(hn::VecFromMask(d32, wins32), d32, flags);
      const hn::Rebind<int32_t, decltype(d64)> half;
      const auto lanes = static_cast<int64_t>(hn::Lanes(d64));
      for (int64_t i = 0; i < static_cast<int64_t>(hn::Lanes(d32)); i += lanes) {
        const auto wide = hn::PromoteTo(d64, hn::LoadU(half, flags + i));
        PutLanes(d64, hn::MaskFromVec(wide), place + i * stride, stride, to + i);
      }
    }
  }

  template <typename D, typename Mask>
  HWY_INLINE static void PutLanes(D d, Mask wins, int64_t place, int64_t stride, Index* to) {
    const auto first = hn::Set(d, static_cast<Index>(place));
    const auto steps = hn::Iota(d, 0);
    const auto places = hn::Add(first, stride == 2 ? hn::Add(steps, steps) : steps);
    hn::BlendedStore(places, wins, d, to);
  }

  const KernelArgs& args_;
  const PlaneWindow rows_;
  const PlaneWindow columns_;
  const PlaneShape in_;
  const PlaneShape out_;
  const StridedTensor input_;
  const StridedTensor output_;
  const StridedTensor indices_;
  const PlanePieces pieces_;
};

void MaxPool2dWithIndices(const KernelArgs& args) {
  const DType indices = args.call.output(1).desc.dtype;
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    using T = decltype(element);
    if (indices == DType::kInt64) return MaxPool<T, int64_t>(args).Run();
    MaxPool<T, int32_t>(args).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

OPSERVE_CPU_KERNEL(MaxPool2dWithIndices, NoWorkspace);

}  // namespace opserve::cpu
#endif
