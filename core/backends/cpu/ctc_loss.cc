// CtcLoss. With l' a sample's labels, blanks between and around, and lp = log_probs at l'_s:
//   α[0][0] = lp, α[0][1] = lp, else −∞
//   α[t][s] = lp + ln(exp α[t−1][s] + exp α[t−1][s−1] + exp α[t−1][s−2]), the last where l'_s ≠
//   l'_{s−2} nll = −ln(exp α[L−1][2S] + exp α[L−1][2S−1])
// Rows are kept near zero by what they are lowered by, whose sum is a double: long samples lose no
// digits.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/ctc_loss.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/ctc-inl.h"
#include "core/base/status_macros.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T>
class CtcForward {
 public:
  CtcForward(const KernelArgs& args, const CtcPlan& plan)
      : args_(args),
        plan_(plan),
        log_probs_(InputRows<T>(args, 0)),
        log_alpha_(OutputRows<T>(args, 1)),
        width_(args.call.output(1).desc.shape[2]),
        blank_(args.call.attribute<int64_t>(2)) {}

  void Run() {
    args_.workers.ParallelFor(plan_.chunks, [&](int64_t chunk) {
      Pace pace(args_.workers);
      Lattice lattice(args_, plan_, chunk);
      const int64_t end = plan_.FirstSample(chunk + 1);
      for (int64_t b = plan_.FirstSample(chunk); b < end && pace.Goes(plan_.SampleCost()); ++b)
        RunSample(b, lattice, pace);
    });
  }

 private:
  struct Lattice {
    Lattice(const KernelArgs& args, const CtcPlan& plan, int64_t chunk)
        : rows(args, plan, chunk, kForwardRows),
          blanks(rows.row(0)),
          labels(rows.row(1)),
          skips(rows.row(2)),
          log_probs(rows.row(3)) {}

    void Reset(Pace& pace) {
      rows.Fill(0, kMinusInfinity<T>, pace);
      rows.Fill(1, kMinusInfinity<T>, pace);
      rows.Fill(2, T{0}, pace);
      rows.Fill(3, kMinusInfinity<T>, pace);  // past the last label there is none
      offset = {};
      shift = 0;
    }

    ScratchRows<T> rows;
    T* blanks;  // of α[t], lowered by `offset`
    T* labels;
    T* skips;      // 1 where label j may follow label j − 1 at once
    T* log_probs;  // of the labels at t
    LongSum offset;
    T shift = 0;  // what the next row is to be lowered by
  };

  void RunSample(int64_t b, Lattice& lattice, Pace& pace) {
    const CtcSample sample = SampleAt(args_, plan_, b);
    lattice.Reset(pace);
    MarkSkips(sample, -1, lattice.skips, pace);
    const int64_t step_cost = StepCost(sample, width_);
    for (int64_t t = 0; t < sample.steps && pace.Goes(step_cost); ++t) {
      const T* classes = log_probs_.At(t, b);
      GatherLabels(sample, classes, log_probs_.inner, lattice.log_probs, pace);
      const T blank = classes[blank_ * log_probs_.inner];
      if (t == 0) {
        lattice.blanks[0] = blank;
        if (sample.num_labels > 0) lattice.labels[0] = lattice.log_probs[0];
      } else {
        Step(sample, blank, lattice, pace);
      }
      StoreRow(sample, t, lattice, pace);
    }
    for (int64_t t = sample.steps; t < plan_.t && pace.Goes(step_cost); ++t)
      FillRow(log_alpha_.At(b, t), 0, pace);
    if (!pace.stopped()) StoreLikelihood(sample, lattice);
  }

  // α[t − 1] to α[t] in place, the last first: it needs those before it.
  void Step(const CtcSample& sample, T blank, Lattice& lattice, Pace& pace) const {
    const Tag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    lattice.offset.Add(static_cast<double>(lattice.shift));
    const VecOf<T> shift = hn::Set(d, lattice.shift);
    const VecOf<T> blank_lp = hn::Set(d, blank);
    const VecOf<T> never = hn::Set(d, kMinusInfinity<T>);
    VecOf<T> max = never;
    const int64_t last = sample.num_labels / lanes * lanes;
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels + 1, kLatticeCost)) {
      for (int64_t i = begin; i < end; i += lanes) {
        const int64_t j = last - i;
        const VecOf<T> e = hn::LoadU(d, lattice.blanks + j);
        const VecOf<T> o = hn::LoadU(d, lattice.labels + j);
        const VecOf<T> before = hn::LoadU(d, lattice.labels + j - 1);
        const auto skips = hn::Ne(hn::LoadU(d, lattice.skips + j), hn::Zero(d));
        const VecOf<T> lp = hn::LoadU(d, lattice.log_probs + j);
        const VecOf<T> blank_sum = hn::Sub(LogSum<T>(d, e, before), shift);
        const VecOf<T> label_sum =
            hn::Sub(LogSum<T>(d, o, e, hn::IfThenElse(skips, before, never)), shift);
        const VecOf<T> new_e = hn::Add(blank_sum, blank_lp);
        const VecOf<T> new_o = hn::Add(label_sum, lp);
        max = MaxNumber<T>(MaxNumber<T>(max, new_e), new_o);
        hn::StoreU(new_e, d, lattice.blanks + j);
        hn::StoreU(new_o, d, lattice.labels + j);
      }
    }
    lattice.shift = ShiftOf<T>(d, max);
  }

  void FillRow(T* row, int64_t first, Pace& pace) const {
    T* rest = row + first * log_alpha_.inner;
    for (const auto [begin, end] : pace.InBlocks(width_ - first)) {
      for (int64_t s = begin; s < end; ++s) rest[s * log_alpha_.inner] = kMinusInfinity<T>;
    }
  }

  // The lattice as α[t], blanks and labels in turn.
  void StoreRow(const CtcSample& sample, int64_t t, const Lattice& lattice, Pace& pace) const {
    const Tag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    T* row = log_alpha_.At(sample.index, t);
    const Split<T> offset(lattice.offset);
    const VecOf<T> high = hn::Set(d, offset.high);
    const VecOf<T> low = hn::Set(d, offset.low);
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels + 1, kLabelCost)) {
      int64_t j = begin;
      const int64_t last = log_alpha_.inner == 1 ? std::min(end, sample.num_labels) - lanes : -1;
      for (; j <= last; j += lanes) {
        const VecOf<T> e = hn::Add(hn::Add(hn::LoadU(d, lattice.blanks + j), low), high);
        const VecOf<T> o = hn::Add(hn::Add(hn::LoadU(d, lattice.labels + j), low), high);
        hn::StoreInterleaved2(e, o, d, row + 2 * j);
      }
      for (; j < end; ++j) {
        row[2 * j * log_alpha_.inner] = (lattice.blanks[j] + offset.low) + offset.high;
        if (j < sample.num_labels)
          row[(2 * j + 1) * log_alpha_.inner] = (lattice.labels[j] + offset.low) + offset.high;
      }
    }
    FillRow(row, 2 * sample.num_labels + 1, pace);
  }

  void StoreLikelihood(const CtcSample& sample, const Lattice& lattice) const {
    double likelihood = sample.num_labels == 0 ? 0 : -std::numeric_limits<double>::infinity();
    if (sample.steps > 0) {
      const auto a = static_cast<double>(lattice.blanks[sample.num_labels]);
      const double b = sample.num_labels == 0
                           ? kMinusInfinity<double>
                           : static_cast<double>(lattice.labels[sample.num_labels - 1]);
      LongSum sum = lattice.offset;
      sum.Add(LogSumOf(a, b));
      likelihood = sum.value();
    }
    const TensorDesc& desc = args_.call.output(0).desc;
    T* out = reinterpret_cast<T*>(args_.outputs[0]) + desc.storage_offset +
             sample.index * desc.strides[0];
    *out = static_cast<T>(likelihood == 0 ? 0 : -likelihood);
  }

  static double LogSumOf(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    const double high = std::max(a, b);
    if (std::isinf(high)) return high;
    return high + std::log1p(std::exp(std::min(a, b) - high));
  }

  const KernelArgs& args_;
  const CtcPlan& plan_;
  const Rows<const T> log_probs_;
  const Rows<T> log_alpha_;
  const int64_t width_;
  const int64_t blank_;
};

void CtcLoss(const KernelArgs& args, const CtcPlan& plan) {
  if (args.call.input(0).dtype == DType::kFloat64) return CtcForward<double>(args, plan).Run();
  CtcForward<float>(args, plan).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(CtcLoss);

namespace {

absl::Status ExecuteCtcLoss(const KernelArgs& args) {
  const CtcPlan plan = PlanCtcLoss(args.call);
  if (plan.n == 0) return absl::OkStatus();
  OPSERVE_RETURN_IF_ERROR(ReadLabels(args, plan, 1));
  HWY_DYNAMIC_DISPATCH(CtcLoss)(args, plan);
  return absl::OkStatus();
}

size_t CtcLossWorkspace(const OpCall& call) { return PlanCtcLoss(call).bytes; }
size_t CtcLossControl(const OpCall& call) { return PlanCtcLoss(call).control_bytes; }

}  // namespace

extern constinit const Kernel kCtcLossKernel = {CtcLossWorkspace, ExecuteCtcLoss, CtcLossControl};

}  // namespace opserve::cpu
#endif
