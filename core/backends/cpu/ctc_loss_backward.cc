// CtcLossBackward. With l' a sample's labels, blanks between and around, and lp = log_probs:
//   υ[L−1][2S] = υ[L−1][2S−1] = 0, else −∞;  β[t][s] = υ[t][s] + lp[t][l'_s]
//   υ[t][s] = ln(exp β[t+1][s] + exp β[t+1][s+1] + exp β[t+1][s+2]), the last where l'_s ≠ l'_{s+2}
//   grad[t][c] = (exp lp − Σ exp(α[t][s] + υ[t][s] + nll)) · grad_out, summed over the s with l'_s
//   = c
// which is the contract's exp(res + nll − lp), where α + β counts lp twice. Rows of β are kept near
// zero by what they are lowered by, whose sum is a double and mostly cancels nll: long samples lose
// no digits.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/ctc_loss_backward.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/ctc-inl.h"
#include "core/base/status_macros.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T>
class CtcBackward {
 public:
  CtcBackward(const KernelArgs& args, const CtcPlan& plan)
      : args_(args),
        plan_(plan),
        log_probs_(InputRows<T>(args, 1)),
        log_alpha_(InputRows<T>(args, 4)),
        grad_(OutputRows<T>(args, 0)),
        blank_(args.call.attribute<int64_t>(2)),
        zero_infinity_(args.call.attribute<bool>(3)) {}

  void Run() {
    args_.workers.ParallelFor(plan_.chunks, [&](int64_t chunk) {
      Pace pace(args_.workers);
      T* classes = plan_.split ? nullptr : ClassRow(chunk, pace);
      const int64_t end = plan_.FirstSample(chunk + 1);
      for (int64_t b = plan_.FirstSample(chunk); b < end && pace.Goes(plan_.SampleCost()); ++b)
        RunSample(b, chunk, classes, pace);
    });
    if (!plan_.split) return;
    args_.workers.ParallelFor(plan_.n * plan_.step_chunks, [&](int64_t chunk) {
      Pace pace(args_.workers);
      const CtcSample sample = SampleAt(args_, plan_, chunk / plan_.step_chunks);
      const double loss = Losses()[sample.index];
      const int64_t part = chunk % plan_.step_chunks;
      T* classes = ClassRow(chunk, pace);
      const int64_t end = plan_.FirstStep(part + 1);
      const int64_t step_cost = StepCost(sample, plan_.c);
      for (int64_t t = plan_.FirstStep(part); t < end && pace.Goes(step_cost); ++t)
        WriteStep(sample, loss, t, Posteriors(sample.index, t), classes, pace);
    });
  }

 private:
  struct Lattice {
    Lattice(const KernelArgs& args, const CtcPlan& plan, int64_t chunk, Pace& pace)
        : rows(args, plan, chunk, kBackwardRows),
          blanks(rows.row(0)),
          labels(rows.row(1)),
          skips(rows.row(2)),
          log_probs(rows.row(3)),
          alpha_blanks(rows.row(4)),
          alpha_labels(rows.row(5)),
          posteriors(rows.row(6)) {
      for (const int64_t row : {0, 1, 4, 5}) rows.Fill(row, kMinusInfinity<T>, pace);
      for (const int64_t row : {2, 3}) rows.Fill(row, T{0}, pace);
    }

    ScratchRows<T> rows;
    T* blanks;  // of β[t + 1], lowered by `offset`
    T* labels;
    T* skips;         // 1 where label j + 1 may follow label j at once
    T* log_probs;     // of the labels at t
    T* alpha_blanks;  // of α[t]
    T* alpha_labels;
    T* posteriors;
    LongSum offset;
    T shift = 0;  // what the next row is to be lowered by
  };

  // A zeroed row of a number for each class.
  T* ClassRow(int64_t index, Pace& pace) const {
    const int64_t size = (plan_.c + kRowMargin - 1) / kRowMargin * kRowMargin;
    T* row = ScratchAt<T>(args_.workspace, plan_.classes) + index * size;
    FillPaced(row, size, T{0}, pace);
    return row;
  }

  T* Posteriors(int64_t b, int64_t t) const {
    return ScratchAt<T>(args_.workspace, plan_.posteriors) +
           (b * plan_.t + t) * plan_.posterior_row;
  }

  double* Losses() const { return ScratchAt<double>(args_.control, plan_.losses); }

  // The recursion is of use.
  static bool IsFinite(double loss) { return loss < std::numeric_limits<double>::infinity(); }

  void RunSample(int64_t b, int64_t chunk, T* classes, Pace& pace) const {
    const CtcSample sample = SampleAt(args_, plan_, b);
    const auto loss = static_cast<double>(InputAt<T>(args_, 3, b));
    Losses()[b] = loss;
    const int64_t step_cost = StepCost(sample, plan_.c);
    if (!plan_.split) {
      for (int64_t t = sample.steps; t < plan_.t && pace.Goes(step_cost); ++t)
        FillStep(sample, t, T{0}, pace);
    }
    if (!IsFinite(loss) && plan_.split) return;
    Lattice lattice(args_, plan_, chunk, pace);
    MarkSkips(sample, 1, lattice.skips, pace);
    for (int64_t t = sample.steps - 1; t >= 0 && pace.Goes(step_cost); --t) {
      T* posteriors = plan_.split ? Posteriors(b, t) : lattice.posteriors;
      if (IsFinite(loss)) Step(sample, t, loss, lattice, posteriors, pace);
      if (!plan_.split) WriteStep(sample, loss, t, posteriors, classes, pace);
    }
  }

  // β[t + 1] to β[t] in place, and the posteriors of t: the labels' from 0 on, the blanks' sum at
  // the end of the row.
  void Step(const CtcSample& sample, int64_t t, double loss, Lattice& lattice, T* posteriors,
            Pace& pace) const {
    const Tag<T> d;
    const T* classes = log_probs_.At(t, sample.index);
    GatherLabels(sample, classes, log_probs_.inner, lattice.log_probs, pace);
    LoadAlpha(sample, t, lattice, pace);
    const bool last = t == sample.steps - 1;
    const T shift = lattice.shift;
    LongSum sum = lattice.offset;
    sum.Add(loss);
    const Split<T> base(sum);
    lattice.offset.Add(static_cast<double>(shift));
    const T blank = classes[blank_ * log_probs_.inner] - shift;
    VecOf<T> max = hn::Set(d, kMinusInfinity<T>);
    VecOf<T> blank_sum = hn::Zero(d);
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels + 1, kLatticeCost)) {
      for (int64_t j = begin; j < end; j += lanes) {
        VecOf<T> e, o;
        if (last) {
          e = OneAt(d, j, sample.num_labels);
          o = OneAt(d, j, sample.num_labels - 1);
        } else {
          Combine(d, lattice, j, e, o);
        }
        const VecOf<T> high = hn::Set(d, base.high);
        const VecOf<T> low = hn::Set(d, base.low);
        const VecOf<T> alpha_e = hn::Add(hn::LoadU(d, lattice.alpha_blanks + j), high);
        const VecOf<T> alpha_o = hn::Add(hn::LoadU(d, lattice.alpha_labels + j), high);
        blank_sum = hn::Add(blank_sum, Exp(d, hn::Add(hn::Add(alpha_e, e), low)));
        hn::StoreU(Exp(d, hn::Add(hn::Add(alpha_o, o), low)), d, posteriors + j);
        e = hn::Add(e, hn::Set(d, blank));
        o = hn::Add(o, hn::Sub(hn::LoadU(d, lattice.log_probs + j), hn::Set(d, shift)));
        max = MaxNumber<T>(MaxNumber<T>(max, e), o);
        hn::StoreU(e, d, lattice.blanks + j);
        hn::StoreU(o, d, lattice.labels + j);
      }
    }
    lattice.shift = ShiftOf<T>(d, max);
    posteriors[plan_.posterior_row - 1] = hn::GetLane(hn::SumOfLanes(d, blank_sum));
  }

  // 0 (the logarithm of 1) where the row's index is `index`, −∞ elsewhere.
  static HWY_INLINE VecOf<T> OneAt(Tag<T> d, int64_t j, int64_t index) {
    const auto here = hn::Eq(hn::Iota(d, T{0}), hn::Set(d, static_cast<T>(index - j)));
    return hn::IfThenElse(here, hn::Zero(d), hn::Set(d, kMinusInfinity<T>));
  }

  // υ[t] of β[t + 1]. Those after the last label are −∞.
  static HWY_INLINE void Combine(Tag<T> d, const Lattice& lattice, int64_t j, VecOf<T>& e,
                                 VecOf<T>& o) {
    const VecOf<T> blank = hn::LoadU(d, lattice.blanks + j);
    const VecOf<T> label = hn::LoadU(d, lattice.labels + j);
    const VecOf<T> next_blank = hn::LoadU(d, lattice.blanks + j + 1);
    const VecOf<T> next_label = hn::LoadU(d, lattice.labels + j + 1);
    const auto skips = hn::Ne(hn::LoadU(d, lattice.skips + j), hn::Zero(d));
    e = LogSum<T>(d, blank, label);
    o = LogSum<T>(d, label, next_blank,
                  hn::IfThenElse(skips, next_label, hn::Set(d, kMinusInfinity<T>)));
  }

  // α[t] apart into blanks and labels.
  void LoadAlpha(const CtcSample& sample, int64_t t, Lattice& lattice, Pace& pace) const {
    const Tag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const T* row = log_alpha_.At(sample.index, t);
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels + 1, kLabelCost)) {
      int64_t j = begin;
      const int64_t last = log_alpha_.inner == 1 ? std::min(end, sample.num_labels) - lanes : -1;
      for (; j <= last; j += lanes) {
        VecOf<T> e, o;
        hn::LoadInterleaved2(d, row + 2 * j, e, o);
        hn::StoreU(e, d, lattice.alpha_blanks + j);
        hn::StoreU(o, d, lattice.alpha_labels + j);
      }
      for (; j < end; ++j) {
        lattice.alpha_blanks[j] = row[2 * j * log_alpha_.inner];
        if (j < sample.num_labels) lattice.alpha_labels[j] = row[(2 * j + 1) * log_alpha_.inner];
      }
    }
  }

  // grad[t] of a sample. `classes` is all zeros before and after.
  void WriteStep(const CtcSample& sample, double loss, int64_t t, const T* posteriors, T* classes,
                 Pace& pace) const {
    if (t >= sample.steps) return FillStep(sample, t, T{0}, pace);
    if (!IsFinite(loss)) {
      const bool zero = zero_infinity_ && !std::isnan(loss);
      return FillStep(sample, t, zero ? T{0} : std::numeric_limits<T>::quiet_NaN(), pace);
    }
    if (pace.stopped()) return;
    classes[blank_] += posteriors[plan_.posterior_row - 1];
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels, kLabelCost)) {
      for (int64_t j = begin; j < end; ++j) classes[sample.labels[j]] += posteriors[j];
    }
    WriteClasses(sample, t, classes, pace);
    classes[blank_] = 0;
    for (const auto [begin, end] : pace.InBlocks(sample.num_labels, kLabelCost)) {
      for (int64_t j = begin; j < end; ++j) classes[sample.labels[j]] = 0;
    }
  }

  void FillStep(const CtcSample& sample, int64_t t, T value, Pace& pace) const {
    T* grad = grad_.At(t, sample.index);
    for (const auto [begin, end] : pace.InBlocks(plan_.c)) {
      for (int64_t c = begin; c < end; ++c) grad[c * grad_.inner] = value;
    }
  }

  void WriteClasses(const CtcSample& sample, int64_t t, const T* posteriors, Pace& pace) const {
    const T* log_probs = log_probs_.At(t, sample.index);
    T* grad = grad_.At(t, sample.index);
    const T grad_out = InputAt<T>(args_, 0, sample.index);
    for (const auto [begin, end] : pace.InBlocks(plan_.c, kLabelCost)) {
      if (log_probs_.inner == 1 && grad_.inner == 1) {
        WriteDense(log_probs + begin, posteriors + begin, grad_out, end - begin, grad + begin);
      } else {
        WriteStrided(log_probs + begin * log_probs_.inner, posteriors + begin, grad_out,
                     end - begin, grad + begin * grad_.inner);
      }
    }
  }

  // (exp lp − posterior) · grad_out
  static void WriteDense(const T* log_probs, const T* posteriors, T grad_out, int64_t count,
                         T* grad) {
    const Tag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto value = [&](VecOf<T> lp, VecOf<T> posterior) HWY_ATTR {
      const VecOf<T> v = hn::Mul(hn::Sub(Exp(d, lp), posterior), hn::Set(d, grad_out));
      return hn::IfThenElse(hn::Eq(lp, hn::Set(d, kMinusInfinity<T>)), hn::NaN(d), v);
    };
    int64_t c = 0;
    for (; c + lanes <= count; c += lanes) {
      hn::StoreU(value(hn::LoadU(d, log_probs + c), hn::LoadU(d, posteriors + c)), d, grad + c);
    }
    if (c == count) return;
    const auto rest = static_cast<size_t>(count - c);
    StorePart<T>(value(LoadPart<T>(d, log_probs + c, rest), hn::LoadU(d, posteriors + c)), d,
                 grad + c, rest);
  }

  void WriteStrided(const T* log_probs, const T* posteriors, T grad_out, int64_t count,
                    T* grad) const {
    constexpr int64_t kTileClasses = 256;
    T in[kTileClasses];
    T out[kTileClasses];
    for (int64_t c = 0; c < count; c += kTileClasses) {
      const int64_t part = std::min(kTileClasses, count - c);
      for (int64_t i = 0; i < part; ++i) in[i] = log_probs[(c + i) * log_probs_.inner];
      WriteDense(in, posteriors + c, grad_out, part, out);
      for (int64_t i = 0; i < part; ++i) grad[(c + i) * grad_.inner] = out[i];
    }
  }

  const KernelArgs& args_;
  const CtcPlan& plan_;
  const Rows<const T> log_probs_;
  const Rows<const T> log_alpha_;
  const Rows<T> grad_;
  const int64_t blank_;
  const bool zero_infinity_;
};

void CtcLossBackward(const KernelArgs& args, const CtcPlan& plan) {
  if (args.call.input(1).dtype == DType::kFloat64) return CtcBackward<double>(args, plan).Run();
  CtcBackward<float>(args, plan).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(CtcLossBackward);

namespace {

absl::Status ExecuteCtcLossBackward(const KernelArgs& args) {
  const CtcPlan plan = PlanCtcLossBackward(args.call);
  if (plan.n == 0) return absl::OkStatus();
  OPSERVE_RETURN_IF_ERROR(ReadLabels(args, plan, 2));
  HWY_DYNAMIC_DISPATCH(CtcLossBackward)(args, plan);
  return absl::OkStatus();
}

size_t CtcLossBackwardWorkspace(const OpCall& call) { return PlanCtcLossBackward(call).bytes; }
size_t CtcLossBackwardControl(const OpCall& call) {
  return PlanCtcLossBackward(call).control_bytes;
}

}  // namespace

extern constinit const Kernel kCtcLossBackwardKernel = {
    CtcLossBackwardWorkspace, ExecuteCtcLossBackward, CtcLossBackwardControl};

}  // namespace opserve::cpu
#endif
