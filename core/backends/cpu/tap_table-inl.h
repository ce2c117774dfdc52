// What the columns of a row have for each other, where planes are summed along both axes
// (planes-inl.h): the taps of outputs side by side, made once and used for row after row. Included
// once a SIMD target.

#include <algorithm>

#include "core/backends/cpu/plane_axis.h"

#if defined(OPSERVE_CPU_TAP_TABLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_TAP_TABLE_INL_H_
#undef OPSERVE_CPU_TAP_TABLE_INL_H_
#else
#define OPSERVE_CPU_TAP_TABLE_INL_H_
#endif

#include "core/backends/cpu/float_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Elements of a row that are made at once.
inline constexpr int64_t kPlanePiece = 1024;

// Outputs side by side that take as many inputs each, of one weight.
struct TapRun {
  // How far the inputs of an output lie behind those of the output before it. kHalf: each input is
  // the only one of two outputs.
  enum class Step : uint8_t { kAny, kOne, kTwo, kHalf };

  int64_t begin = 0;
  int64_t end = 0;
  Step step = Step::kAny;
};

// The taps of some outputs, in order, relative to the first input: what the columns of a row of
// sums have for each other, kept from row to row. Outputs side by side, for sums; or, for their
// transpose, those that have inputs of a piece, cut to these. Of short rows, some rows' one behind
// the other.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is not filled is not read.
struct TapTable {
  int64_t count = 0;
  int64_t begin = 0;  // of the inputs of a row
  int64_t end = 0;
  int64_t cost = 0;
  TapRun run;  // the longest
  AxisTaps taps[kPlanePiece];

  void Fill(const PlaneAxis& axis, int64_t first, int64_t how_many, int64_t rows) {
    count = how_many;
    for (int64_t i = 0; i < how_many; ++i) taps[i] = axis.At(first + i);
    begin = taps[0].begin;
    end = taps[how_many - 1].end;
    Finish(rows);
  }

  // Inputs [from, to) are the piece's.
  void FillCut(const PlaneAxis& axis, const AxisSpans& outputs, int64_t from, int64_t to,
               int64_t rows) {
    count = 0;
    begin = from;
    end = to;
    for (int span = 0; span < outputs.count; ++span) {
      for (int64_t i = outputs.spans[span].begin; i < outputs.spans[span].end; ++i) {
        AxisTaps tap = axis.At(i);
        if (tap.begin < from) {
          tap.begin = from;
          tap.first = tap.rest;
        }
        tap.end = std::min(tap.end, to);
        taps[count++] = tap;
      }
    }
    Finish(rows);
  }

  // sums[i] = Σ over the taps of output i of their weights · inputs
  HWY_INLINE void Gather(const double* inputs, double* sums) const {
    GatherEach(inputs, 0, run.begin, sums);
    int64_t done = run.begin;
    if (run.step == TapRun::Step::kOne) done = GatherRow(inputs, sums);
    if (run.step == TapRun::Step::kTwo) done = GatherEverySecond(inputs, sums);
    GatherEach(inputs, done, count, sums);
  }

  // Adds what each output has for its inputs.
  HWY_INLINE void Spread(const double* outputs, double* sums) const {
    SpreadEach(outputs, 0, run.begin, sums);
    int64_t done = run.begin;
    if (run.step == TapRun::Step::kOne) done = SpreadRow(outputs, sums);
    if (run.step == TapRun::Step::kTwo) done = SpreadEverySecond(outputs, sums);
    if (run.step == TapRun::Step::kHalf) done = SpreadPairs(outputs, sums);
    SpreadEach(outputs, done, count, sums);
  }

 private:
  // Shorter ones are not worth their beginning.
  static constexpr int64_t kLeastRun = 8;

  void Finish(int64_t rows) {
    cost = count;
    for (int64_t i = 0; i < count; ++i) {
      taps[i].begin -= begin;
      taps[i].end -= begin;
      cost += taps[i].end - taps[i].begin;
    }
    const int64_t of_row = count;
    cost *= rows;
    count *= rows;
    for (int64_t i = of_row; i < count; ++i) {
      taps[i] = taps[i - of_row];
      taps[i].begin += end - begin;
      taps[i].end += end - begin;
    }
    run = {};
    for (int64_t i = 0; i < count;) {
      const TapRun here = RunFrom(i);
      if (here.end - here.begin > std::max(run.end - run.begin, kLeastRun - 1)) run = here;
      i = std::max(here.end - 1, i + 1);  // a run's last output may begin another
    }
  }

  TapRun RunFrom(int64_t first) const {
    const AxisTaps& tap = taps[first];
    TapRun found = {first, first + 1, TapRun::Step::kAny};
    if (first + 1 == count || !AreAlike(tap, taps[first + 1])) return found;
    const int64_t distance = taps[first + 1].begin - tap.begin;
    if (distance == 0 && tap.end - tap.begin == 1) found.step = TapRun::Step::kHalf;
    if (distance == 1) found.step = TapRun::Step::kOne;
    if (distance == 2) found.step = TapRun::Step::kTwo;
    if (found.step == TapRun::Step::kAny) return found;
    while (found.end < count && AreAlike(tap, taps[found.end]) &&
           taps[found.end].begin - tap.begin == Distance(found.step, found.end - first))
      ++found.end;
    return found;
  }

  static int64_t Distance(TapRun::Step step, int64_t outputs) {
    if (step == TapRun::Step::kHalf) return outputs / 2;
    return step == TapRun::Step::kTwo ? 2 * outputs : outputs;
  }

  static bool AreAlike(const AxisTaps& one, const AxisTaps& other) {
    const int64_t inputs = one.end - one.begin;
    return other.end - other.begin == inputs && one.first == other.first &&
           (inputs == 1 || (one.first == one.rest && other.first == other.rest));
  }

  // The run's outputs from its beginning on. Returns the first that it leaves, as those below do.
  HWY_INLINE int64_t GatherRow(const double* inputs, double* sums) const {
    const AxisTaps& first = taps[run.begin];
    const auto n = static_cast<size_t>(run.end - run.begin);
    SetWeighted(inputs + first.begin, n, first.first, sums + run.begin);
    for (int64_t k = first.begin + 1; k < first.end; ++k)
      AddWeighted(inputs + k, n, first.first, sums + run.begin);
    return run.end;
  }

  HWY_INLINE int64_t SpreadRow(const double* outputs, double* sums) const {
    const AxisTaps& first = taps[run.begin];
    const auto n = static_cast<size_t>(run.end - run.begin);
    for (int64_t k = first.begin; k < first.end; ++k)
      AddWeighted(outputs + run.begin, n, first.first, sums + k);
    return run.end;
  }

  // Two inputs of each output are read at once, the second of which may be of no use: so the last
  // output is left.
  HWY_INLINE int64_t GatherEverySecond(const double* inputs, double* sums) const {
    const SumTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const AxisTaps& first = taps[run.begin];
    const SumVec w = hn::Set(d, first.first);
    int64_t i = run.begin;
    for (; i + lanes < run.end; i += lanes) {
      const double* x = inputs + taps[i].begin;
      SumVec sum = hn::Zero(d);
      SumVec even;
      SumVec odd;
      for (int64_t k = 0; k < first.end - first.begin; k += 2) {
        hn::LoadInterleaved2(d, x + k, even, odd);
        sum = hn::MulAdd(even, w, sum);
        if (k + 1 < first.end - first.begin) sum = hn::MulAdd(odd, w, sum);
      }
      hn::StoreU(sum, d, sums + i);
    }
    return i;
  }

  // Likewise of sums that are read and written.
  HWY_INLINE int64_t SpreadEverySecond(const double* outputs, double* sums) const {
    const SumTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const AxisTaps& first = taps[run.begin];
    const SumVec w = hn::Set(d, first.first);
    int64_t i = run.begin;
    for (; i + lanes < run.end; i += lanes) {
      const SumVec weighted = hn::Mul(hn::LoadU(d, outputs + i), w);
      double* to = sums + taps[i].begin;
      SumVec even;
      SumVec odd;
      for (int64_t k = 0; k < first.end - first.begin; k += 2) {
        hn::LoadInterleaved2(d, to + k, even, odd);
        if (k + 1 < first.end - first.begin) odd = hn::Add(odd, weighted);
        hn::StoreInterleaved2(hn::Add(even, weighted), odd, d, to + k);
      }
    }
    return i;
  }

  HWY_INLINE int64_t SpreadPairs(const double* outputs, double* sums) const {
    const SumTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const SumVec w = hn::Set(d, taps[run.begin].first);
    int64_t i = run.begin;
    for (; i + 2 * lanes <= run.end; i += 2 * lanes) {
      double* to = sums + taps[i].begin;
      SumVec one;
      SumVec other;
      hn::LoadInterleaved2(d, outputs + i, one, other);
      hn::StoreU(hn::MulAdd(hn::Add(one, other), w, hn::LoadU(d, to)), d, to);
    }
    return i;
  }

  HWY_INLINE void GatherEach(const double* inputs, int64_t first, int64_t last,
                             double* sums) const {
    for (int64_t i = first; i < last; ++i) {
      const AxisTaps& tap = taps[i];
      double sum = tap.first * inputs[tap.begin];
      for (int64_t k = tap.begin + 1; k < tap.end; ++k) sum += tap.rest * inputs[k];
      sums[i] = sum;
    }
  }

  HWY_INLINE void SpreadEach(const double* outputs, int64_t first, int64_t last,
                             double* sums) const {
    for (int64_t i = first; i < last; ++i) {
      const AxisTaps& tap = taps[i];
      sums[tap.begin] += outputs[i] * tap.first;
      for (int64_t k = tap.begin + 1; k < tap.end; ++k) sums[k] += outputs[i] * tap.rest;
    }
  }
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
