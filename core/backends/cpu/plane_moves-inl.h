// Planes made of others' elements as they are. Included once a SIMD target.

#include <algorithm>

#include "core/backends/cpu/plane_axis.h"

#if defined(OPSERVE_CPU_PLANE_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_PLANE_MOVES_INL_H_
#undef OPSERVE_CPU_PLANE_MOVES_INL_H_
#else
#define OPSERVE_CPU_PLANE_MOVES_INL_H_
#endif

#include "core/backends/cpu/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Outputs of which each is one input, as it is.
template <typename T>
class PlaneMoves {
 public:
  PlaneMoves(const KernelArgs& args, const PlaneAxis& rows, const PlaneAxis& columns, size_t axes)
      : args_(args),
        rows_(rows),
        columns_(columns),
        input_(InputTensor(args, 0)),
        output_(OutputTensor(args, 0)),
        pieces_(PlaneShape(args.call.output(0).desc, axes),
                PieceThatReaches(columns, columns.out()), 0) {}

  void Run() {
    ParallelRanges(args_.workers, pieces_.count(), pieces_.of_chunk,
                   [&](int64_t first, int64_t last) {
                     Chunk chunk(*this, first);
                     for (int64_t i = first; i < last && !chunk.pace.stopped(); ++i)
                       MovePiece(i, chunk);
                   });
  }

 private:
  struct Chunk {
    Chunk(const PlaneMoves& call, int64_t unit)
        : pace(call.args_.workers),
          reader(call.input_),
          writer(call.output_, call.pieces_.FirstElement(unit), Store::kCached) {}
    Pace pace;
    RunReader<T> reader;
    RunWriter<T> writer;
    int64_t begin = -1;
    int64_t lowest = 0;
    int64_t reach = 0;
    int64_t run_begin = 0;  // outputs whose inputs lie side by side, too
    int64_t run_end = 0;
    int64_t inputs[kPlanePiece] = {};  // of a piece, from `lowest` on
  };

  void FindInputs(int64_t begin, int64_t count, Chunk& chunk) const {
    chunk.begin = begin;
    chunk.run_begin = chunk.run_end = 0;
    int64_t run = 0;
    for (int64_t i = 0; i < count; ++i) {
      chunk.inputs[i] = columns_.At(begin + i).begin;
      if (i > 0 && chunk.inputs[i] != chunk.inputs[i - 1] + 1) run = i;
      if (i + 1 - run > chunk.run_end - chunk.run_begin) {
        chunk.run_begin = run;
        chunk.run_end = i + 1;
      }
    }
    const auto [low, high] = std::minmax_element(chunk.inputs, chunk.inputs + count);
    chunk.lowest = *low;
    chunk.reach = *high - *low + 1;
    for (int64_t i = 0; i < count; ++i) chunk.inputs[i] -= chunk.lowest;
  }

  void MovePiece(int64_t unit, Chunk& chunk) {
    const int64_t count = pieces_.Count(unit);
    if (chunk.begin != pieces_.Begin(unit)) FindInputs(pieces_.Begin(unit), count, chunk);
    const int64_t row = pieces_.Row(unit);
    const int64_t from =
        (row / rows_.out() * rows_.in() + rows_.At(row % rows_.out()).begin) * columns_.in() +
        chunk.lowest;
    if (!chunk.pace.Goes(count)) return;
    T* to = chunk.writer.Next(static_cast<size_t>(count));
    if (chunk.reach > kPiece) {
      for (int64_t i = 0; i < count; ++i) to[i] = *chunk.reader.Read(from + chunk.inputs[i], 1);
      return;
    }
    const T* x = chunk.reader.Read(from, static_cast<size_t>(chunk.reach));
    for (int64_t i = 0; i < chunk.run_begin; ++i) to[i] = x[chunk.inputs[i]];
    std::copy_n(x + chunk.inputs[chunk.run_begin], chunk.run_end - chunk.run_begin,
                to + chunk.run_begin);
    for (int64_t i = chunk.run_end; i < count; ++i) to[i] = x[chunk.inputs[i]];
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
