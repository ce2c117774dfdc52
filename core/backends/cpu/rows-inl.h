// Kernels that make each row of their output of rows of their inputs, by way of something that is
// summed over the row. Included once a SIMD target.

#include <array>
#include <cmath>
#include <limits>

#include "core/backends/cpu/rows.h"

#if defined(OPSERVE_CPU_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_ROWS_INL_H_
#undef OPSERVE_CPU_ROWS_INL_H_
#else
#define OPSERVE_CPU_ROWS_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Where a piece begins.
struct RowPlace {
  int64_t row;
  int64_t begin;
};

// Rows of N inputs, of one shape and dtype, become the rows of an output. Of an Op:
//
//   struct Part;                                              what is summed, plain numbers
//   Part Of(const Pointers<N, T>& in, size_t count) const;    of some elements of a row
//   static void Add(Part& sum, const Part& next);
//   void Write(const Pointers<N, T>& in, T* out, size_t count, RowPlace place,
//              const Part& of_row) const;
//   void Row(const Pointers<N, T>& in, T* out, size_t count, int64_t row) const;
//                                                             all of a row of one piece
//
// Pieces are summed in order.
template <typename T, size_t N, typename Op>
class RowPasses {
 public:
  RowPasses(const KernelArgs& args, size_t dim, const Op& op, int output = 0)
      : args_(args),
        op_(op),
        geometry_(MakeRows(RowsAlong(args.call.input(0), dim))),
        out_(OutputTensor(args, output, RowsAlong(args.call.output(output).desc, dim))),
        store_(StoreOf(args.call.output(output).desc)) {
    for (size_t i = 0; i < N; ++i) {
      const int input = static_cast<int>(i);
      inputs_[i] = InputTensor(args, input, RowsAlong(args.call.input(input), dim));
    }
  }

  void Run() {
    if (geometry_.rows == 0) return;
    if (geometry_.split) {
      RunSplit();
    } else if (geometry_.extent <= kPiece) {
      RunShort();
    } else {
      RunLong();
    }
  }

 private:
  using Part = typename Op::Part;

  class Readers {
   public:
    explicit Readers(const std::array<StridedTensor, N>& inputs)
        : Readers(inputs, std::make_index_sequence<N>()) {}
    Pointers<N, T> Read(int64_t begin, size_t count) {
      Pointers<N, T> in;
      for (size_t i = 0; i < N; ++i) in[i] = readers_[i].Read(begin, count);
      return in;
    }

   private:
    template <size_t... K>
    Readers(const std::array<StridedTensor, N>& inputs, std::index_sequence<K...> /*all*/)
        : readers_{RunReader<T>(inputs[K])...} {}
    std::array<RunReader<T>, N> readers_;
  };

  // As many rows at a time as a piece holds.
  void RunShort() {
    const int64_t extent = geometry_.extent;
    const int64_t of_block = kPiece / extent;
    ParallelRanges(
        args_.workers, geometry_.rows, UnitsOfChunk(extent), [&](int64_t first, int64_t last) {
          Readers readers(inputs_);
          RunWriter<T> writer(out_, first * extent, store_);
          for (int64_t row = first; row < last; row += of_block) {
            const auto count = static_cast<size_t>(std::min(of_block, last - row) * extent);
            Pointers<N, T> in = readers.Read(row * extent, count);
            T* out = writer.Next(count);
            for (int64_t i = row; i < std::min(last, row + of_block); ++i, out += extent) {
              op_.Row(in, out, static_cast<size_t>(extent), i);
              for (const T*& from : in) from += extent;
            }
          }
        });
  }

  // A row by one thread, in two passes.
  void RunLong() {
    const int64_t extent = geometry_.extent;
    ParallelRanges(args_.workers, geometry_.rows, UnitsOfChunk(extent),
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     Readers readers(inputs_);
                     RunWriter<T> writer(out_, first * extent, store_);
                     for (int64_t row = first; row < last && !pace.stopped(); ++row) {
                       Part part{};
                       ForEachPiece(pace, extent, [&](int64_t i, size_t count) {
                         const Part next = op_.Of(readers.Read(row * extent + i, count), count);
                         if (i == 0) {
                           part = next;
                         } else {
                           Op::Add(part, next);
                         }
                       });
                       if (pace.stopped()) return;
                       ForEachPiece(pace, extent, [&](int64_t i, size_t count) {
                         op_.Write(readers.Read(row * extent + i, count), writer.Next(count), count,
                                   {row, i}, part);
                       });
                     }
                   });
  }

  void RunSplit() {
    auto* parts = ScratchAt<Part>(args_.workspace, 0);
    const int64_t pieces = geometry_.rows * geometry_.pieces();
    ParallelRanges(args_.workers, pieces, UnitsOfChunk(kPiece), [&](int64_t first, int64_t last) {
      Readers readers(inputs_);
      for (int64_t i = first; i < last; ++i) {
        const Piece piece = PieceAt(i);
        parts[i] = op_.Of(readers.Read(piece.begin, piece.count), piece.count);
      }
    });
    std::array<Part, static_cast<size_t>(kMinWholeRows)> of_rows{};
    if (!SumParts(parts, of_rows.data())) return;
    ParallelRanges(args_.workers, pieces, UnitsOfChunk(kPiece), [&](int64_t first, int64_t last) {
      Readers readers(inputs_);
      RunWriter<T> writer(out_, PieceAt(first).begin, store_);
      for (int64_t i = first; i < last; ++i) {
        const Piece piece = PieceAt(i);
        const int64_t row = i / geometry_.pieces();
        op_.Write(readers.Read(piece.begin, piece.count), writer.Next(piece.count), piece.count,
                  {row, piece.begin - row * geometry_.extent}, of_rows[static_cast<size_t>(row)]);
      }
    });
  }

  struct Piece {
    int64_t begin;
    size_t count;
  };

  Piece PieceAt(int64_t i) const {
    const int64_t begin = i % geometry_.pieces() * kPiece;
    return {i / geometry_.pieces() * geometry_.extent + begin,
            static_cast<size_t>(std::min(kPiece, geometry_.extent - begin))};
  }

  // False when the call was stopped.
  bool SumParts(const Part* parts, Part* of_rows) const {
    Pace pace(args_.workers);
    for (int64_t row = 0; row < geometry_.rows; ++row) {
      Part part = parts[row * geometry_.pieces()];
      for (const auto [begin, end] : pace.InBlocks(geometry_.pieces(), kPartCost)) {
        for (int64_t i = std::max<int64_t>(1, begin); i < end; ++i)
          Op::Add(part, parts[row * geometry_.pieces() + i]);
      }
      of_rows[row] = part;
    }
    return !pace.stopped() && !args_.workers.stopped();
  }

  static constexpr int64_t kPartCost = 16;

  const KernelArgs& args_;
  const Op op_;
  const RowGeometry geometry_;
  std::array<StridedTensor, N> inputs_;
  const StridedTensor out_;
  const Store store_;
};

// Runs a call whose attribute 0 is the dimension of the rows.
template <size_t N, typename Op>
void RunRows(const KernelArgs& args) {
  const size_t dim = DimensionOf(args.call, 0, args.call.input(0).shape.size());
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { RowPasses<decltype(element), N, Op>(args, dim, Op()).Run(); });
}

// What is summed of the rows of a gradient.
struct SumPart {
  double sum;

  static void Add(SumPart& sum, const SumPart& next) { sum.sum += next.sum; }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
