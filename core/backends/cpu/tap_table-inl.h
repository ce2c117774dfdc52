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

// Outputs whose inputs, as many of each and of one weight, lie one behind those of the one before.
struct TapSlide {
  int64_t begin = 0;
  int64_t end = 0;
};

// The taps of some outputs, in order, relative to the first input: what the columns of a row of
// sums have for each other, kept from row to row. Outputs side by side, for sums; or, for their
// transpose, those that have inputs of a piece, cut to these.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is not filled is not read.
struct TapTable {
  int64_t count = 0;
  int64_t begin = 0;  // of the inputs of all
  int64_t end = 0;
  int64_t cost = 0;
  TapSlide slide;
  AxisTaps taps[kPlanePiece];

  void Fill(const PlaneAxis& axis, int64_t first, int64_t how_many) {
    count = how_many;
    for (int64_t i = 0; i < how_many; ++i) taps[i] = axis.At(first + i);
    begin = taps[0].begin;
    end = taps[how_many - 1].end;
    Finish();
  }

  // Inputs [from, to) are the piece's.
  void FillCut(const PlaneAxis& axis, const AxisSpans& outputs, int64_t from, int64_t to) {
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
    Finish();
  }

  // sums[i] = Σ over the taps of output i of their weights · inputs
  HWY_INLINE void Gather(const double* inputs, double* sums) const {
    GatherEach(inputs, 0, slide.begin, sums);
    if (slide.begin < slide.end) {
      const AxisTaps& first = taps[slide.begin];
      const auto n = static_cast<size_t>(slide.end - slide.begin);
      SetWeighted(inputs + first.begin, n, first.first, sums + slide.begin);
      for (int64_t k = first.begin + 1; k < first.end; ++k)
        AddWeighted(inputs + k, n, first.first, sums + slide.begin);
    }
    GatherEach(inputs, slide.end, count, sums);
  }

  // Adds what each output has for its inputs.
  HWY_INLINE void Spread(const double* outputs, double* sums) const {
    SpreadEach(outputs, 0, slide.begin, sums);
    if (slide.begin < slide.end) {
      const AxisTaps& first = taps[slide.begin];
      const auto n = static_cast<size_t>(slide.end - slide.begin);
      for (int64_t k = first.begin; k < first.end; ++k)
        AddWeighted(outputs + slide.begin, n, first.first, sums + k);
    }
    SpreadEach(outputs, slide.end, count, sums);
  }

 private:
  // Shorter ones are not worth their beginning.
  static constexpr int64_t kLeastSlide = 8;

  void Finish() {
    cost = count;
    slide = {};
    int64_t run = 0;
    for (int64_t i = 0; i < count; ++i) {
      taps[i].begin -= begin;
      taps[i].end -= begin;
      cost += taps[i].end - taps[i].begin;
      if (i > 0 && !Slides(taps[i - 1], taps[i])) run = i;
      if (i + 1 - run > std::max(slide.end - slide.begin, kLeastSlide - 1)) slide = {run, i + 1};
    }
  }

  static bool IsEven(const AxisTaps& tap) {
    return tap.first == tap.rest || tap.end - tap.begin == 1;
  }
  static bool Slides(const AxisTaps& before, const AxisTaps& tap) {
    return tap.begin == before.begin + 1 && tap.end == before.end + 1 &&
           tap.first == before.first && IsEven(before) && IsEven(tap);
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
