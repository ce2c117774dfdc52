// Sums of the elements of planes along both axes (plane_axis.h), and their transpose for gradients.
// Each piece of a row of the output is made by one thread, which adds what goes into it in the
// order of the input: rows, then columns. Included once a SIMD target.

#include <algorithm>
#include <type_traits>

#include "core/backends/cpu/plane_axis.h"

#if defined(OPSERVE_CPU_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_PLANES_INL_H_
#undef OPSERVE_CPU_PLANES_INL_H_
#else
#define OPSERVE_CPU_PLANES_INL_H_
#endif

#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Elements of a row that are made at once.
inline constexpr int64_t kPlanePiece = 1024;
// What finding the inputs of a row takes, as Pace counts it.
inline constexpr int64_t kPlaneRowCost = 64;

// The rows of an output in pieces, which are the units of work.
struct PlanePieces {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t piece = 0;
  int64_t of_chunk = 1;

  // `work` of all, in elements.
  PlanePieces(const PlaneShape& shape, int64_t piece_width, int64_t work)
      : rows(shape.planes * shape.height),
        width(shape.width),
        piece(std::clamp<int64_t>(std::min(piece_width, shape.width), 1, kPlanePiece)) {
    const int64_t units = std::max<int64_t>(count(), 1);
    of_chunk = UnitsOfChunk(std::max(std::min(piece, width), work / units));
  }
  int64_t of_row() const { return (width + piece - 1) / piece; }
  int64_t count() const { return rows * of_row(); }
  int64_t Row(int64_t unit) const { return unit / of_row(); }
  int64_t Begin(int64_t unit) const { return unit % of_row() * piece; }
  int64_t Count(int64_t unit) const { return std::min(piece, width - Begin(unit)); }
  int64_t FirstElement(int64_t unit) const { return Row(unit) * width + Begin(unit); }
};

// The work of a call as its schema has it.
inline int64_t WorkOf(const KernelArgs& args) {
  const auto operations = args.call.op->operations;
  return operations == nullptr ? 0 : operations(args.call);
}

// The widest piece whose inputs are read at once, if one is.
inline int64_t PieceThatReaches(const PlaneAxis& axis, int64_t most) {
  int64_t piece = std::min(most, kPlanePiece);
  while (piece > 1 && axis.Reach(piece) > kPiece) piece /= 2;
  return piece;
}

// Elements as floats.
template <typename T>
class FloatReader {
 public:
  explicit FloatReader(const StridedTensor& tensor) : reader_(tensor) {}

  // Up to kTile. Valid until the next call.
  HWY_INLINE const float* Read(int64_t begin, int64_t count) {
    const T* from = reader_.Read(begin, static_cast<size_t>(count));
    if constexpr (std::is_same_v<T, float>) {
      return from;
    } else {
      const FloatTag d;
      const size_t lanes = hn::Lanes(d);
      const auto n = static_cast<size_t>(count);
      size_t i = 0;
      for (; i + lanes <= n; i += lanes) hn::StoreU(LoadFloats(d, from + i), d, floats_ + i);
      for (; i < n; ++i) floats_[i] = ToFloat(from[i]);
      return floats_;
    }
  }

 private:
  RunReader<T> reader_;
  alignas(64) float floats_[std::is_same_v<T, float> ? 1 : kTile] = {};
};

template <typename T>
HWY_INLINE void StoreRun(const float* from, int64_t count, T* to) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto n = static_cast<size_t>(count);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreFloats(hn::LoadU(d, from + i), d, to + i);
  for (; i < n; ++i) Round(from[i], to[i]);
}

template <typename T>
HWY_INLINE void StoreSums(const double* sums, int64_t count, T* to) {
  alignas(64) float floats[kPlanePiece];
  for (int64_t i = 0; i < count; ++i) floats[i] = static_cast<float>(sums[i]);
  StoreRun(floats, count, to);
}

// The taps of some outputs side by side, relative to the first input, kept from row to row. Of a
// transpose cut to the inputs of a piece.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is not filled is not read.
struct TapTable {
  int64_t output = -1;
  int64_t count = 0;
  int64_t begin = 0;  // of the inputs of all
  int64_t end = 0;
  int64_t cost = 0;
  // Whether each has as many inputs, one behind those of the one before, of one weight.
  bool slides = false;
  AxisTaps taps[kPlanePiece];

  void Fill(const PlaneAxis& axis, int64_t first, int64_t how_many) {
    if (output == first && count == how_many) return;
    output = first;
    count = how_many;
    cost = how_many;
    slides = true;
    for (int64_t i = 0; i < how_many; ++i) {
      taps[i] = axis.At(first + i);
      cost += taps[i].end - taps[i].begin;
      slides = slides && taps[i].begin == taps[0].begin + i && taps[i].end == taps[0].end + i &&
               taps[i].first == taps[0].first && taps[i].rest == taps[0].first;
    }
    begin = taps[0].begin;
    end = taps[how_many - 1].end;
    for (int64_t i = 0; i < how_many; ++i) {
      taps[i].begin -= begin;
      taps[i].end -= begin;
    }
  }

  // Inputs [from, to) are the piece's.
  void FillCut(const PlaneAxis& axis, int64_t first, int64_t how_many, int64_t from, int64_t to) {
    if (output == first && count == how_many && begin == from && end == to) return;
    output = first;
    count = how_many;
    begin = from;
    end = to;
    cost = how_many;
    for (int64_t i = 0; i < how_many; ++i) {
      AxisTaps tap = axis.At(first + i);
      if (tap.begin < from) {
        tap.begin = from;
        tap.first = tap.rest;
      }
      tap.begin -= from;
      tap.end = std::min(tap.end, to) - from;
      cost += tap.end - tap.begin;
      taps[i] = tap;
    }
  }
};

// output[h][w] = Σ over the taps of h and w of their weights · input.
template <typename T>
class PlaneSums {
 public:
  PlaneSums(const KernelArgs& args, const PlaneAxis& rows, const PlaneAxis& columns)
      : args_(args),
        rows_(rows),
        columns_(columns),
        input_(InputTensor(args, 0)),
        output_(OutputTensor(args, 0)),
        pieces_(PlaneShape(args.call.output(0).desc, 2), PieceThatReaches(columns, columns.out()),
                WorkOf(args)) {}

  void Run() {
    ParallelRanges(args_.workers, pieces_.count(), pieces_.of_chunk,
                   [&](int64_t first, int64_t last) {
                     Chunk chunk(*this, first);
                     for (int64_t i = first; i < last && !chunk.pace.stopped(); ++i)
                       SumPiece(i, chunk);
                   });
  }

 private:
  struct Chunk {
    Chunk(const PlaneSums& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          writer(call.output_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    FloatReader<T> reader;
    RunWriter<T> writer;
    TapTable table;
    alignas(64) double sums[kPlanePiece] = {};
  };

  void SumPiece(int64_t unit, Chunk& chunk) {
    const int64_t count = pieces_.Count(unit);
    chunk.table.Fill(columns_, pieces_.Begin(unit), count);
    std::fill_n(chunk.sums, count, 0.0);
    const int64_t row = pieces_.Row(unit);
    const AxisTaps taps = rows_.At(row % rows_.out());
    const int64_t plane = row / rows_.out() * rows_.in();
    chunk.pace.Goes(count);
    for (int64_t i = taps.begin; i < taps.end && chunk.pace.Goes(chunk.table.cost); ++i) {
      const double weight = i == taps.begin ? taps.first : taps.rest;
      const int64_t begin = (plane + i) * columns_.in();
      if (chunk.table.end - chunk.table.begin > kPiece) {
        AddLongRow(begin, weight, chunk);
      } else {
        AddRow(begin, weight, chunk);
      }
    }
    if (!chunk.pace.stopped())
      StoreSums(chunk.sums, count, chunk.writer.Next(static_cast<size_t>(count)));
  }

  static HWY_INLINE void AddRow(int64_t begin, double weight, Chunk& chunk) {
    const TapTable& table = chunk.table;
    const float* x = chunk.reader.Read(begin + table.begin, table.end - table.begin);
    if (table.slides) return SlideOver(x, weight * table.taps[0].first, chunk);
    for (int64_t i = 0; i < table.count; ++i) {
      const AxisTaps& taps = table.taps[i];
      double rest = 0;
      for (int64_t k = taps.begin + 1; k < taps.end; ++k) rest += static_cast<double>(x[k]);
      chunk.sums[i] +=
          weight * (taps.first * static_cast<double>(x[taps.begin]) + taps.rest * rest);
    }
  }

  static HWY_INLINE void SlideOver(const float* x, double weight, Chunk& chunk) {
    const TapTable& table = chunk.table;
    const int64_t taps = table.taps[0].end - table.taps[0].begin;
    for (int64_t k = 0; k < taps; ++k) {
      for (int64_t i = 0; i < table.count; ++i)
        chunk.sums[i] += weight * static_cast<double>(x[i + k]);
    }
  }

  // Where the inputs of a piece are too many to be read at once.
  static void AddLongRow(int64_t begin, double weight, Chunk& chunk) {
    const TapTable& table = chunk.table;
    for (int64_t i = 0; i < table.count; ++i) {
      const AxisTaps& taps = table.taps[i];
      double rest = 0;
      for (int64_t k = taps.begin + 1; k < taps.end && chunk.pace.Goes(kPiece); k += kPiece) {
        const int64_t count = std::min(kPiece, taps.end - k);
        const float* x = chunk.reader.Read(begin + table.begin + k, count);
        for (int64_t j = 0; j < count; ++j) rest += static_cast<double>(x[j]);
      }
      const auto first =
          static_cast<double>(*chunk.reader.Read(begin + table.begin + taps.begin, 1));
      chunk.sums[i] += weight * (taps.first * first + taps.rest * rest);
    }
  }

  const KernelArgs& args_;
  const PlaneAxis rows_;
  const PlaneAxis columns_;
  const StridedTensor input_;
  const StridedTensor output_;
  const PlanePieces pieces_;
};

// The transpose: of the gradient of PlaneSums's output, input 0, that of its input, output 0, where
// `rows` and `columns` are those of the forward.
template <typename T>
class PlaneGradients {
 public:
  PlaneGradients(const KernelArgs& args, const PlaneAxis& rows, const PlaneAxis& columns)
      : args_(args),
        rows_(rows),
        columns_(columns),
        input_(InputTensor(args, 0)),
        output_(OutputTensor(args, 0)),
        pieces_(ShapeOf(args, rows, columns), kPlanePiece, WorkOf(args)) {}

  void Run() {
    ParallelRanges(args_.workers, pieces_.count(), pieces_.of_chunk,
                   [&](int64_t first, int64_t last) {
                     Chunk chunk(*this, first);
                     for (int64_t i = first; i < last && !chunk.pace.stopped(); ++i)
                       SumPiece(i, chunk);
                   });
  }

 private:
  struct Chunk {
    Chunk(const PlaneGradients& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          writer(call.output_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    FloatReader<T> reader;
    RunWriter<T> writer;
    int64_t begin = -1;  // of the piece that `outputs` are of
    AxisSpans outputs;
    TapTable table;
    alignas(64) double sums[kPlanePiece] = {};
  };

  static PlaneShape ShapeOf(const KernelArgs& args, const PlaneAxis& rows,
                            const PlaneAxis& columns) {
    PlaneShape shape(args.call.output(0).desc, 1);
    shape.planes /= rows.in();
    shape.height = rows.in();
    shape.width = columns.in();
    return shape;
  }

  void SumPiece(int64_t unit, Chunk& chunk) {
    const int64_t begin = pieces_.Begin(unit);
    const int64_t count = pieces_.Count(unit);
    if (chunk.begin != begin) {
      chunk.begin = begin;
      chunk.outputs = columns_.OutputsOf(begin, begin + count);
    }
    std::fill_n(chunk.sums, count, 0.0);
    const int64_t row = pieces_.Row(unit) % rows_.in();
    const int64_t plane = pieces_.Row(unit) / rows_.in() * rows_.out();
    chunk.pace.Goes(count + kPlaneRowCost);
    const AxisSpans outputs = rows_.OutputsOf(row, row + 1);
    for (int span = 0; span < outputs.count; ++span) {
      for (int64_t i = outputs.spans[span].begin;
           i < outputs.spans[span].end && chunk.pace.Goes(kPlaneRowCost); ++i) {
        const AxisTaps taps = rows_.At(i);
        AddRow((plane + i) * columns_.out(), row == taps.begin ? taps.first : taps.rest, count,
               chunk);
      }
    }
    if (!chunk.pace.stopped())
      StoreSums(chunk.sums, count, chunk.writer.Next(static_cast<size_t>(count)));
  }

  HWY_INLINE void AddRow(int64_t row, double weight, int64_t inputs, Chunk& chunk) {
    for (int span = 0; span < chunk.outputs.count; ++span) {
      const AxisSpan outputs = chunk.outputs.spans[span];
      for (int64_t first = outputs.begin; first < outputs.end && !chunk.pace.stopped();
           first += kPlanePiece) {
        const int64_t count = std::min(kPlanePiece, outputs.end - first);
        chunk.table.FillCut(columns_, first, count, chunk.begin, chunk.begin + inputs);
        AddOutputs(chunk.reader.Read(row + first, count), weight, chunk);
        chunk.pace.Goes(chunk.table.cost);
      }
    }
  }

  static HWY_INLINE void AddOutputs(const float* gradients, double weight, Chunk& chunk) {
    double* const sums = chunk.sums;
    for (int64_t i = 0; i < chunk.table.count; ++i) {
      const AxisTaps& taps = chunk.table.taps[i];
      const double gradient = weight * static_cast<double>(gradients[i]);
      sums[taps.begin] += gradient * taps.first;
      for (int64_t k = taps.begin + 1; k < taps.end; ++k) sums[k] += gradient * taps.rest;
    }
  }

  const KernelArgs& args_;
  const PlaneAxis rows_;
  const PlaneAxis columns_;
  const StridedTensor input_;
  const StridedTensor output_;
  const PlanePieces pieces_;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
