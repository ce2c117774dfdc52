// Sums of the elements of planes along both axes (plane_axis.h), and their transpose for gradients.
// Each piece of a row of the output is made by one thread, which adds first the rows that go into
// it, then their columns, each in an order that follows from shapes alone. Included once a SIMD
// target.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/backends/cpu/plane_axis.h"

#if defined(OPSERVE_CPU_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_PLANES_INL_H_
#undef OPSERVE_CPU_PLANES_INL_H_
#else
#define OPSERVE_CPU_PLANES_INL_H_
#endif

#include "core/backends/cpu/float_runs-inl.h"
#include "core/backends/cpu/tap_table-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// What finding the inputs of a row takes, as Pace counts it.
inline constexpr int64_t kPlaneRowCost = 64;

// The rows of an output, in pieces or some at once, which are the units of work.
struct PlanePieces {
  int64_t rows = 0;
  int64_t width = 0;
  int64_t piece = 0;
  int64_t rows_of_unit = 1;  // more where a row is one piece
  int64_t of_chunk = 1;

  // `work` of all, in elements.
  PlanePieces(const PlaneShape& shape, int64_t piece_width, int64_t work, int64_t rows_at_once = 1)
      : rows(shape.planes * shape.height),
        width(shape.width),
        piece(std::clamp<int64_t>(std::min(piece_width, shape.width), 1, kPlanePiece)),
        rows_of_unit(of_row() == 1 ? rows_at_once : 1) {
    const int64_t units = std::max<int64_t>(count(), 1);
    of_chunk = UnitsOfChunk(std::max(std::min(piece, width) * rows_of_unit, work / units));
  }
  int64_t of_row() const { return (width + piece - 1) / piece; }
  int64_t count() const { return (rows + rows_of_unit - 1) / rows_of_unit * of_row(); }
  int64_t Row(int64_t unit) const { return unit / of_row() * rows_of_unit; }
  int64_t Rows(int64_t unit) const { return std::min(rows_of_unit, rows - Row(unit)); }
  int64_t Begin(int64_t unit) const { return unit % of_row() * piece; }
  // Of each row.
  int64_t Width(int64_t unit) const { return std::min(piece, width - Begin(unit)); }
  int64_t Count(int64_t unit) const { return Rows(unit) * Width(unit); }
  int64_t FirstElement(int64_t unit) const { return Row(unit) * width + Begin(unit); }
};

// Short rows are summed some at once: what each costs beside its elements is more than they do.
inline int64_t RowsAtOnce(const PlaneAxis& columns) {
  constexpr int64_t kElementsAtOnce = 256;
  return std::max<int64_t>(1,
                           kElementsAtOnce / std::max({columns.in(), columns.out(), int64_t{1}}));
}

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

// output[h][w] = Σ over the taps of h and w of their weights · input: first of the rows, then of
// the columns.
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
                WorkOf(args), RowsAtOnce(columns)) {}

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
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is not filled is not read.
    Chunk(const PlaneSums& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          writer(call.output_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    FloatReader<T> reader;
    RunWriter<T> writer;
    int64_t begin = -1;  // of the piece that `table` is of, and its rows
    int64_t rows = 0;
    TapTable table;
    alignas(64) double row_sums[kPiece];
    alignas(64) double sums[kPlanePiece];
  };

  void SumPiece(int64_t unit, Chunk& chunk) {
    const int64_t rows = pieces_.Rows(unit);
    const int64_t count = pieces_.Count(unit);
    if (chunk.begin != pieces_.Begin(unit) || chunk.rows != rows) {
      chunk.begin = pieces_.Begin(unit);
      chunk.rows = rows;
      chunk.table.Fill(columns_, chunk.begin, pieces_.Width(unit), rows);
    }
    chunk.pace.Goes(count + chunk.table.cost);
    if (chunk.table.end - chunk.table.begin > kPiece) {
      SumLongRow(pieces_.Row(unit), chunk);
    } else {
      SumRows(pieces_.Row(unit), chunk);
    }
    if (!chunk.pace.stopped())
      StoreSums(chunk.sums, count, 1, chunk.writer.Next(static_cast<size_t>(count)));
  }

  // As many rows of the output as the table has.
  HWY_INLINE void SumRows(int64_t first, Chunk& chunk) const {
    const TapTable& table = chunk.table;
    const int64_t inputs = table.end - table.begin;
    const auto n = static_cast<size_t>(inputs);
    int64_t plane = first / rows_.out();
    int64_t row = first % rows_.out();
    double* sums = chunk.row_sums;
    for (int64_t r = 0; r < chunk.rows; ++r, sums += inputs) {
      const AxisTaps taps = rows_.At(row);
      for (int64_t i = taps.begin; i < taps.end && chunk.pace.Goes(inputs); ++i) {
        const float* x =
            chunk.reader.Read((plane * rows_.in() + i) * columns_.in() + table.begin, inputs);
        if (i == taps.begin) {
          SetWeighted(x, n, taps.first, sums);
        } else {
          AddWeighted(x, n, taps.rest, sums);
        }
      }
      if (++row == rows_.out()) {
        row = 0;
        ++plane;
      }
    }
    if (!chunk.pace.stopped()) table.Gather(chunk.row_sums, chunk.sums);
  }

  // Where the inputs of a piece are too many to be read at once.
  void SumLongRow(int64_t row, Chunk& chunk) const {
    const AxisTaps taps = rows_.At(row % rows_.out());
    const int64_t plane = row / rows_.out() * rows_.in();
    std::fill_n(chunk.sums, chunk.table.count, 0.0);
    for (int64_t i = taps.begin; i < taps.end && !chunk.pace.stopped(); ++i)
      AddLongRow((plane + i) * columns_.in(), i == taps.begin ? taps.first : taps.rest, chunk);
  }

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
        pieces_(ShapeOf(args, rows, columns), kPlanePiece, WorkOf(args), RowsAtOnce(columns)) {}

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
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is not filled is not read.
    Chunk(const PlaneGradients& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          writer(call.output_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    FloatReader<T> reader;
    RunWriter<T> writer;
    AxisSpans rows;      // that have inputs of a row
    int64_t begin = -1;  // of the piece that `columns` have inputs of
    AxisSpans columns;
    int64_t of_table = -1;  // the first of the columns that `table` has, for so many rows
    int64_t table_rows = 0;
    TapTable table;
    int64_t output_row = -1;  // the only one that `sums` are of, if it is not negative, and its
    double weight = 0;        // weight
    alignas(64) double row_sums[kPlanePiece];
    alignas(64) double sums[kPlanePiece];
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
      chunk.columns = columns_.OutputsOf(begin, begin + pieces_.Width(unit), chunk.columns);
      chunk.of_table = -1;
      chunk.output_row = -1;
    }
    chunk.pace.Goes(count + kPlaneRowCost);
    if (!RepeatsTheRowBefore(unit, chunk)) {
      std::fill_n(chunk.sums, count, 0.0);
      const int64_t columns = chunk.columns.total();
      for (int64_t i = 0; i < columns && !chunk.pace.stopped(); i += kPlanePiece)
        AddColumns(unit, i, std::min(columns, i + kPlanePiece), chunk);
    }
    if (!chunk.pace.stopped())
      StoreSums(chunk.sums, count, 1, chunk.writer.Next(static_cast<size_t>(count)));
  }

  // Whether chunk.sums are the row's already: those of a row that is in the same one window.
  bool RepeatsTheRowBefore(int64_t unit, Chunk& chunk) const {
    if (pieces_.rows_of_unit > 1) return false;
    const int64_t row = pieces_.Row(unit) % rows_.in();
    int64_t output_row = -1;
    double weight = 0;
    chunk.rows = rows_.OutputsOf(row, row + 1, chunk.rows);
    if (chunk.rows.total() == 1) {
      const int64_t output = chunk.rows.spans[0].begin;
      const AxisTaps taps = rows_.At(output);
      output_row = pieces_.Row(unit) / rows_.in() * rows_.out() + output;
      weight = row == taps.begin ? taps.first : taps.rest;
    }
    const bool repeats =
        output_row >= 0 && output_row == chunk.output_row && weight == chunk.weight;
    chunk.output_row = output_row;
    chunk.weight = weight;
    return repeats;
  }

  // Of those of chunk.columns the `first` to before the `last`.
  HWY_INLINE void AddColumns(int64_t unit, int64_t first, int64_t last, Chunk& chunk) const {
    const int64_t rows = pieces_.Rows(unit);
    const AxisSpans columns = chunk.columns.Part(first, last);
    if (chunk.of_table != first || chunk.table_rows != rows) {
      chunk.of_table = first;
      chunk.table_rows = rows;
      chunk.table.FillCut(columns_, columns, chunk.begin, chunk.begin + pieces_.Width(unit), rows);
    }
    int64_t plane = pieces_.Row(unit) / rows_.in();
    int64_t row = pieces_.Row(unit) % rows_.in();
    double* sums = chunk.row_sums;
    for (int64_t r = 0; r < rows && !chunk.pace.stopped(); ++r, sums += last - first) {
      AddRows(plane * rows_.out(), row, columns, sums, chunk);
      if (++row == rows_.in()) {
        row = 0;
        ++plane;
      }
    }
    if (chunk.pace.Goes(chunk.table.cost)) chunk.table.Spread(chunk.row_sums, chunk.sums);
  }

  // The rows that have inputs of `row`.
  HWY_INLINE void AddRows(int64_t plane, int64_t row, const AxisSpans& columns, double* sums,
                          Chunk& chunk) const {
    const int64_t count = columns.total();
    chunk.rows = rows_.OutputsOf(row, row + 1, chunk.rows);
    bool is_first = true;
    for (int span = 0; span < chunk.rows.count; ++span) {
      for (int64_t i = chunk.rows.spans[span].begin;
           i < chunk.rows.spans[span].end && chunk.pace.Goes(count + kPlaneRowCost); ++i) {
        const AxisTaps taps = rows_.At(i);
        AddRow((plane + i) * columns_.out(), columns, row == taps.begin ? taps.first : taps.rest,
               std::exchange(is_first, false), sums, chunk.reader);
      }
    }
    if (is_first) std::fill_n(sums, count, 0.0);
  }

  static HWY_INLINE void AddRow(int64_t row, const AxisSpans& columns, double weight, bool is_first,
                                double* sums, FloatReader<T>& reader) {
    for (int span = 0; span < columns.count; ++span) {
      const int64_t count = columns.spans[span].end - columns.spans[span].begin;
      const float* gradients = reader.Read(row + columns.spans[span].begin, count);
      if (is_first) {
        SetWeighted(gradients, static_cast<size_t>(count), weight, sums);
      } else {
        AddWeighted(gradients, static_cast<size_t>(count), weight, sums);
      }
      sums += count;
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
