// Sums over some dimensions of a space. Included once a SIMD target.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/runs.h"
#include "core/backends/cpu/scratch.h"
#include "core/backends/cpu/sums.h"

#if defined(OPSERVE_CPU_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_SUMS_INL_H_
#undef OPSERVE_CPU_SUMS_INL_H_
#else
#define OPSERVE_CPU_SUMS_INL_H_
#endif

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/float_runs-inl.h"
#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// The first input itself.
struct Term {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 1>& in) const {
    return in[0];
  }
};

// Sums of a block of columns, and room for those that a last vector has too many of.
struct ColumnSums {
  alignas(64) double of[SumsPlan::kColumns + HWY_MAX_BYTES / sizeof(float)] = {};
};

// sums[i] += v's i-th lane.
HWY_INLINE void AddLanes(FloatTag d, FloatVec v, double* sums) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> part;
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
    const auto term = hn::PromoteTo(dd, hn::LoadU(part, lanes + i));
    hn::StoreU(hn::Add(hn::LoadU(dd, sums + i), term), dd, sums + i);
  }
}

// Adds op of the inputs' rows, which lie `stride` apart, to the sums of their columns: four rows
// are added as floats, these sums as doubles.
template <size_t N, typename T, typename Op>
void AddRows(Op op, Pointers<N, T> in, int64_t rows, int64_t stride, size_t columns,
             ColumnSums& sums) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t j = 0; j < columns; j += lanes) {
    const auto term = [&](int64_t row) HWY_ATTR {
      const size_t at = static_cast<size_t>(row * stride) + j;
      return Apply(op, d,
                   columns - j >= lanes ? LoadAll<N, T>(d, in, at)
                                        : LoadAllFirst<N, T>(d, in, at, columns - j));
    };
    int64_t row = 0;
    for (; row + 4 <= rows; row += 4) {
      const FloatVec front = hn::Add(term(row), term(row + 1));
      const FloatVec back = hn::Add(term(row + 2), term(row + 3));
      AddLanes(d, hn::Add(front, back), sums.of + j);
    }
    for (; row < rows; ++row) AddLanes(d, term(row), sums.of + j);
  }
}

// op of each of `count` elements, as floats.
template <size_t N, typename T, typename Op>
void WriteTerms(Op op, Pointers<N, T> in, size_t count, float* terms) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(Apply(op, d, LoadAll<N, T>(d, in, i)), d, terms + i);
  if (i == count) return;
  StoreFirst(Apply(op, d, LoadAllFirst<N, T>(d, in, i, count - i)), d, terms + i, count - i);
}

// Output `out` of a call becomes Σ op(d, {its inputs…}) / divisor. `views` is a call whose inputs
// broadcast to the space that `plan` is of; its workspace is `plan.bytes()`.
template <size_t N, typename Op>
class Sums {
 public:
  Sums(const KernelArgs& views, const SumsPlan& plan, const StridedTensor& out, const Op& op,
       double divisor)
      : args_(views),
        plan_(plan),
        space_(MakeReduction(views)),
        out_(out),
        op_(op),
        divisor_(divisor),
        partial_(ScratchAt<double>(views.workspace, 0)) {}

  void Run() const {
    WithFloatType(space_.tile_dtype, [&](auto element) {
      using T = decltype(element);
      if (plan_.segments() == 1) return RunWhole<T>();
      RunSegments<T>();
    });
  }

 private:
  // What a block costs besides its elements, as Pace counts it.
  static constexpr int64_t kBlockCost = 64;
  // Elements that are read before the columns' sums are written back.
  static constexpr int64_t kAtOnce = 8192;

  // Some neighbouring sums, and some of their terms.
  struct Part {
    int64_t first;  // sum
    int64_t count;
    int64_t begin;  // element of the space
    int64_t rows;
  };
  Part PartOf(int64_t block, int64_t segment) const {
    const int64_t outer = block / plan_.blocks();
    const int64_t column = block % plan_.blocks() * plan_.columns();
    const int64_t term = segment * plan_.segment_terms();
    return {.first = outer * plan_.inner() + column,
            .count = std::min(plan_.columns(), plan_.inner() - column),
            .begin = (outer * plan_.terms() + term) * plan_.inner() + column,
            .rows = std::min(plan_.segment_terms(), plan_.terms() - term)};
  }

  template <typename T>
  void Add(const Part& part, Pace& pace, ColumnSums& sums) const {
    if (plan_.inner() == 1) {
      sums.of[0] = SumChunk<N, T>(space_, op_, part.begin, part.begin + part.rows);
      pace.Goes(part.rows + kBlockCost);
      return;
    }
    Sources<N, T> sources = MakeSources<N, T>(space_, std::make_index_sequence<N>());
    bool direct = true;
    for (const TileSource<T>& source : sources) direct = direct && source.direct();
    const int64_t step = direct ? std::max<int64_t>(4, kAtOnce / part.count / 4 * 4) : 4;
    for (int64_t row = 0; row < part.rows && !pace.stopped(); row += step) {
      const int64_t rows = std::min(step, part.rows - row);
      const int64_t begin = part.begin + row * plan_.inner();
      if (direct) {
        AddRows<N, T>(op_, ReadAll<N, T>(sources, begin, static_cast<size_t>(part.count)), rows,
                      plan_.inner(), static_cast<size_t>(part.count), sums);
      } else {
        AddGathered<T>(sources, begin, rows, static_cast<size_t>(part.count), sums);
      }
      pace.Goes(rows * part.count + kBlockCost);
    }
  }

  // The same additions for up to four rows that do not lie in memory as the space has them.
  template <typename T>
  void AddGathered(Sources<N, T>& sources, int64_t begin, int64_t rows, size_t columns,
                   ColumnSums& sums) const {
    alignas(64) float terms[4 * SumsPlan::kColumns];
    for (int64_t row = 0; row < rows; ++row) {
      WriteTerms<N, T>(op_, ReadAll<N, T>(sources, begin + row * plan_.inner(), columns), columns,
                       terms + row * SumsPlan::kColumns);
    }
    AddRows<1, float>(Term(), {terms}, rows, SumsPlan::kColumns, columns, sums);
  }

  // Sums [first, first + count).
  void Write(int64_t first, int64_t count, double* sums) const {
    if (divisor_ != 1) DivideSums(sums, count, divisor_);
    WithFloatType(out_.operand.dtype, [&](auto element) {
      RunWriter<decltype(element)> writer(out_, first, Store::kCached);
      StoreSums(sums, count, 1, writer.Next(static_cast<size_t>(count)));
    });
  }

  template <typename T>
  void RunWhole() const {
    const int64_t units = UnitsOfChunk(plan_.terms() * plan_.columns() + kBlockCost);
    ParallelRanges(args_.workers, plan_.outer() * plan_.blocks(), units,
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     for (int64_t block = first; block < last; ++block) {
                       const Part part = PartOf(block, 0);
                       ColumnSums sums;
                       Add<T>(part, pace, sums);
                       if (pace.stopped()) return;
                       Write(part.first, part.count, sums.of);
                     }
                   });
  }

  template <typename T>
  void RunSegments() const {
    const int64_t segments = plan_.segments();
    args_.workers.ParallelFor(plan_.outer() * plan_.blocks() * segments, [&](int64_t i) {
      Pace pace(args_.workers);
      const Part part = PartOf(i / segments, i % segments);
      ColumnSums sums;
      Add<T>(part, pace, sums);
      std::copy_n(sums.of, part.count, partial_ + i % segments * plan_.sums() + part.first);
    });
    ParallelRanges(args_.workers, plan_.sums(), UnitsOfChunk(segments),
                   [&](int64_t first, int64_t last) { WriteSumsOfSegments(first, last); });
  }

  void WriteSumsOfSegments(int64_t first, int64_t last) const {
    Pace pace(args_.workers);
    for (int64_t i = first; i < last; ++i) {
      double sum = 0;
      for (const auto [begin, end] : pace.InBlocks(plan_.segments())) {
        for (int64_t segment = begin; segment < end; ++segment)
          sum += partial_[segment * plan_.sums() + i];
      }
      if (pace.stopped()) return;
      Write(i, 1, &sum);
    }
  }

  const KernelArgs args_;
  const SumsPlan plan_;
  const ElementwiseCall space_;
  const StridedTensor& out_;
  const Op op_;
  const double divisor_;
  double* const partial_;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
