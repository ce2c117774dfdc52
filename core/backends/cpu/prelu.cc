// Prelu: x where x > 0, w x elsewhere, w one for all or one for each channel. PreluBackward: g or
// w g, likewise; and for each w Σ g x where x is not > 0.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/prelu.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/elementwise-inl.h"
#include "core/backends/cpu/prelu_plan.h"
#include "core/backends/cpu/runs-inl.h"
#include "core/backends/cpu/scratch.h"
#include "core/backends/cpu/views.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of x and w.
struct PreluOf {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::IfThenElse(hn::Gt(in[0], hn::Zero(d)), in[0], hn::Mul(in[1], in[0]));
  }
};

// Of g, x and w.
struct PreluGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 3>& in) const {
    return hn::IfThenElse(hn::Gt(in[1], hn::Zero(d)), in[0], hn::Mul(in[2], in[0]));
  }
};

// Of g and x.
struct PreluWeightGradient {
  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::IfThenZeroElse(hn::Gt(in[1], hn::Zero(d)), hn::Mul(in[0], in[1]));
  }
};

// The sums of the channels.
class PreluSums {
 public:
  explicit PreluSums(const KernelArgs& args)
      : args_(args), plan_(args.call), views_(args), out_(OutputTensor(args, 1)) {
    views_.Take(0, PreluChannels(args.call.input(0), plan_));
    views_.Take(1, PreluChannels(args.call.input(1), plan_));
  }

  void Run() {
    const KernelArgs views = views_.args();
    const ElementwiseCall space = MakeReduction(views);
    WithTileType(space, [&](auto element) {
      using T = decltype(element);
      if (plan_.pieces <= 1) return RunWhole<T>(space);
      RunPieces<T>(space);
    });
  }

 private:
  template <typename T>
  double SumOf(const ElementwiseCall& space, int64_t channel, int64_t piece) const {
    const int64_t end = std::min(plan_.elements, (piece + 1) * kChunk);
    const int64_t first = channel * plan_.elements;
    return SumChunk<2, T>(space, PreluWeightGradient(), first + piece * kChunk, first + end);
  }

  // Calls sum(channel) for channels from `first` on and writes what it gives, until `pace` stops.
  template <typename Sum>
  void Write(int64_t first, int64_t last, Pace& pace, const Sum& sum) const {
    WithFloatType(out_.operand.dtype, [&](auto element) {
      RunWriter<decltype(element)> writer(out_, first, Store::kCached);
      for (int64_t channel = first; channel < last; ++channel) {
        const double value = sum(channel);
        if (pace.stopped()) return;
        Round(static_cast<float>(value), *writer.Next(1));
      }
    });
  }

  template <typename T>
  void RunWhole(const ElementwiseCall& space) const {
    ParallelRanges(args_.workers, plan_.channels, UnitsOfChunk(plan_.elements + kPreluSumCost),
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     Write(first, last, pace,
                           [&](int64_t channel) { return SumOf<T>(space, channel, 0); });
                   });
  }

  template <typename T>
  void RunPieces(const ElementwiseCall& space) const {
    auto* sums = ScratchAt<double>(args_.workspace, 0);
    const int64_t pieces = plan_.pieces;
    args_.workers.ParallelFor(plan_.channels * pieces, [&](int64_t i) {
      sums[i] = SumOf<T>(space, i / pieces, i % pieces);
    });
    ParallelRanges(args_.workers, plan_.channels, UnitsOfChunk(pieces),
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     Write(first, last, pace, [&](int64_t channel) {
                       double sum = 0;
                       for (const auto [begin, end] : pace.InBlocks(pieces)) {
                         for (int64_t i = begin; i < end; ++i) sum += sums[channel * pieces + i];
                       }
                       return sum;
                     });
                   });
  }

  const KernelArgs& args_;
  const PreluPlan plan_;
  ViewCall views_;
  const StridedTensor out_;
};

void Prelu(const KernelArgs& args) {
  ViewCall call(args);
  call.Take(0).Take(1, PreluWeights(args.call.input(0), args.call.input(1))).Make(0);
  Map<2>(call.args(), PreluOf());
}

void PreluBackward(const KernelArgs& args) {
  ViewCall call(args);
  call.Take(0).Take(1).Take(2, PreluWeights(args.call.input(1), args.call.input(2))).Make(0);
  Map<3>(call.args(), PreluGradient());
  PreluSums(args).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

size_t PreluWorkspace(const OpCall& call) { return PreluPlan(call).bytes; }

}  // namespace

OPSERVE_CPU_KERNEL(Prelu, NoWorkspace);
OPSERVE_CPU_KERNEL(PreluBackward, PreluWorkspace);

}  // namespace opserve::cpu
#endif
