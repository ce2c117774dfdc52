// CrossEntropyLoss: log-softmax of the rows, and of each −(1 − ε) w[t] p[t] − ε/C Σ w p, p its
// logarithms and t its class. CrossEntropyLossGrad: g (e^p ((1 − ε) w[t] + ε/C Σ w) − ε/C w), less
// g (1 − ε) w[t] at t.
#include "core/backends/cpu/simd.h"

#ifndef OPSERVE_CPU_ENTROPY_PLAN
#define OPSERVE_CPU_ENTROPY_PLAN

#include "core/backends/cpu/class_targets.h"
#include "core/backends/cpu/rows.h"

namespace opserve::cpu {

// Workspace of CrossEntropyLoss: offsets of the parts.
struct EntropyPlan {
  size_t rows;  // two floats of each row, behind the parts of rows that are split
  size_t sums;
  size_t bytes;
};

inline EntropyPlan PlanEntropy(const OpCall& call) {
  const TensorDesc& self = call.input(0);
  const size_t rows = RowsWorkspace(MakeRows(self), 2 * sizeof(double));
  ScratchPlan scratch;
  scratch.Take(static_cast<int64_t>(rows), 1);
  EntropyPlan plan = {};
  plan.rows = scratch.Take(self.shape[0], 2 * sizeof(float));
  plan.sums = scratch.Take(
      static_cast<int64_t>(SampleSumsBytes(self.shape[0], UnitsOfChunk(self.shape[1]))), 1);
  plan.bytes = scratch.bytes();
  return plan;
}

}  // namespace opserve::cpu

#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/cross_entropy_loss.cc"
#include "hwy/foreach_target.h"

#include <algorithm>
#include <cmath>

#include "core/backends/cpu/class_samples-inl.h"
#include "core/backends/cpu/softmax-inl.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of a call whose numbers of the classes are input `self`.
struct Smoothing {
  double of_target;   // 1 − ε
  double of_classes;  // ε/C

  Smoothing(const KernelArgs& args, int self) {
    const auto share = static_cast<double>(static_cast<float>(args.call.attribute<double>(2)));
    of_target = 1 - share;
    of_classes = share / static_cast<double>(args.call.input(self).shape[1]);
  }
};

// Some of the classes' weights.
class WeightReader {
 public:
  WeightReader(const KernelArgs& args, int input)
      : given_(args.call.has_input(input)),
        tensor_(given_ ? InputTensor(args, input) : StridedTensor()),
        reader_(tensor_) {
    if (!given_) std::fill_n(ones_, kTile, 1.0f);
  }

  const float* Read(int64_t begin, size_t count) {
    return given_ ? reader_.Read(begin, count) : ones_;
  }

 private:
  const bool given_;
  const StridedTensor tensor_;
  RunReader<float> reader_;
  float ones_[kTile] = {};
};

// What the logarithm of an element of a row is less: (x − largest) − logarithm.
struct LogOfRow {
  float largest;
  float logarithm;
};

// Σ w p, p the logarithms of the elements x of a row.
template <typename T>
HWY_INLINE double WeightedSum(const T* x, const float* weight, size_t count, const LogOfRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const LessBoth logarithm = {row.largest, row.logarithm};
  DoubleSum sum;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const FloatVec p = logarithm(d, std::array<FloatVec, 1>{LoadFloats(d, x + i)});
    sum.Add(d, hn::Mul(p, hn::LoadU(d, weight + i)));
  }
  if (i < count) {
    const size_t rest = count - i;
    const FloatVec p = logarithm(d, std::array<FloatVec, 1>{LoadFirst(d, x + i, rest)});
    const FloatVec term = hn::Mul(p, LoadFirst(d, weight + i, rest));
    sum.Add(d, hn::IfThenElseZero(hn::FirstN(d, rest), term));
  }
  return sum.Total();
}

// The rows of LogSoftmax, and what each is less.
struct EntropyRows : LogSoftmaxRows {
  LogOfRow* rows;

  template <typename T>
  void Write(const Pointers<1, T>& in, T* out, size_t count, RowPlace place,
             const Part& part) const {
    if (place.begin == 0) rows[place.row] = {part.largest, static_cast<float>(std::log(part.sum))};
    LogSoftmaxRows::Write(in, out, count, place, part);
  }
  template <typename T>
  void Row(const Pointers<1, T>& in, T* out, size_t count, int64_t row) const {
    Write(in, out, count, {row, 0}, Of(in, count));
  }
};

template <typename T>
class EntropyOfClasses {
 public:
  EntropyOfClasses(const KernelArgs& args, const ClassTargets& targets, const EntropyPlan& plan)
      : args_(args),
        targets_(targets),
        smoothing_(args, 0),
        classes_(args.call.input(0).shape[1]),
        self_(InputTensor(args, 0)),
        samples_(args, 0),
        rows_(ScratchAt<LogOfRow>(args.workspace, plan.rows)),
        sums_(args.workspace.subspan(plan.sums)) {}

  void Run() {
    RowPasses<T, 1, EntropyRows>(args_, 1, EntropyRows{{}, rows_}, 1).Run();
    if (args_.workers.stopped()) return;
    const Reduction reduction = ReductionOf(args_.call, 0);
    if (reduction == Reduction::kNone) return StoreEach();
    const ClassSums sums =
        SumSamples(args_.workers, sums_, targets_.count(), of_chunk(),
                   [&](int64_t first, int64_t last) { return SumsOf(first, last); });
    if (args_.workers.stopped()) return;
    StoreNumber<T>(args_, 0, reduction == Reduction::kMean ? sums.loss / sums.weight : sums.loss);
  }

 private:
  int64_t of_chunk() const { return UnitsOfChunk(classes_); }

  void StoreEach() {
    const StridedTensor out = OutputTensor(args_, 0);
    ParallelRanges(args_.workers, targets_.count(), of_chunk(), [&](int64_t first, int64_t last) {
      RunWriter<T> writer(out, first, Store::kCached);
      ForEachLoss(first, last, [&](double loss, double /*weight*/) {
        Round(static_cast<float>(loss), *writer.Next(1));
      });
    });
  }

  ClassSums SumsOf(int64_t first, int64_t last) {
    ClassSums sums;
    ForEachLoss(first, last, [&](double loss, double weight) {
      sums.loss += loss;
      sums.weight += weight;
    });
    return sums;
  }

  // Calls visit(loss, weight) for samples [first, last), in order, until the call is stopped.
  template <typename Visit>
  void ForEachLoss(int64_t first, int64_t last, const Visit& visit) {
    Pace pace(args_.workers);
    RunReader<T> self(self_);
    WeightReader weights(args_, 2);
    samples_.ForEach(targets_, first, last, [&](int64_t i, int64_t of_class, int64_t at) {
      if (pace.stopped()) return;
      if (of_class < 0) return visit(0.0, 0.0);
      const LogOfRow row = rows_[i];
      const auto weight = static_cast<double>(samples_.weight(of_class));
      const float p = samples_.At(at) - row.largest - row.logarithm;
      double loss = -smoothing_.of_target * weight * static_cast<double>(p);
      if (smoothing_.of_classes > 0) {
        ForEachPiece(pace, classes_, [&](int64_t begin, size_t count) {
          loss -= smoothing_.of_classes * WeightedSum(self.Read(i * classes_ + begin, count),
                                                      weights.Read(begin, count), count, row);
        });
      }
      if (!pace.stopped()) visit(loss, weight);
    });
  }

  const KernelArgs& args_;
  const ClassTargets& targets_;
  const Smoothing smoothing_;
  const int64_t classes_;
  const StridedTensor self_;
  const ClassSamples<T, float> samples_;
  LogOfRow* const rows_;
  const std::span<std::byte> sums_;
};

// a e^x − b w
template <typename T>
HWY_INLINE void ScaledExponentials(const T* x, const float* weight, size_t count, float a, float b,
                                   T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec scale = hn::Set(d, a);
  const FloatVec share = hn::Set(d, b);
  const auto value = [&](FloatVec v, FloatVec w)
                         HWY_ATTR { return hn::NegMulAdd(share, w, hn::Mul(scale, Exp(d, v))); };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    StoreFloats(value(LoadFloats(d, x + i), hn::LoadU(d, weight + i)), d, out + i);
  if (i == count) return;
  const size_t rest = count - i;
  StoreFirst(value(LoadFirst(d, x + i, rest), LoadFirst(d, weight + i, rest)), d, out + i, rest);
}

template <typename T>
class EntropyGradient {
 public:
  EntropyGradient(const KernelArgs& args, const ClassTargets& targets)
      : args_(args),
        targets_(targets),
        smoothing_(args, 1),
        reduction_(ReductionOf(args.call, 0)),
        classes_(args.call.input(1).shape[1]),
        incoming_(InputTensor(args, 0)),
        log_prob_(InputTensor(args, 1)),
        out_(OutputTensor(args, 0)),
        samples_(args, 1) {}

  void Run() {
    if (smoothing_.of_classes > 0) sum_of_weights_ = SumOfWeights();
    if (reduction_ == Reduction::kMean) total_ = TotalWeight();
    if (args_.workers.stopped()) return;
    ParallelRanges(args_.workers, targets_.count(), UnitsOfChunk(classes_),
                   [&](int64_t first, int64_t last) { WriteRows(first, last); });
  }

 private:
  // What decides about a row. `gradient` is 0 of one that does not count.
  struct RowTerms {
    int64_t of_class;
    double weight;
    double gradient;
  };

  double SumOfWeights() const {
    Pace pace(args_.workers);
    WeightReader weights(args_, 3);
    double sum = 0;
    ForEachPiece(pace, classes_, [&](int64_t i, size_t count) {
      const float* weight = weights.Read(i, count);
      for (size_t k = 0; k < count; ++k) sum += static_cast<double>(weight[k]);
    });
    return sum;
  }

  double TotalWeight() const {
    const auto sums = [&](int64_t first, int64_t last) {
      ClassSums sums_of_chunk;
      samples_.ForEach(targets_, first, last, [&](int64_t /*i*/, int64_t of_class, int64_t) {
        if (of_class >= 0) sums_of_chunk.weight += static_cast<double>(samples_.weight(of_class));
      });
      return sums_of_chunk;
    };
    return SumSamples(args_.workers, args_.workspace, targets_.count(), kChunk, sums).weight;
  }

  void WriteRows(int64_t first, int64_t last) const {
    Pace pace(args_.workers);
    RunReader<T> incoming(incoming_);
    RunReader<T> row(log_prob_);
    WeightReader weights(args_, 3);
    RunWriter<T> writer(out_, first * classes_, StoreOf(args_.call.output(0).desc));
    samples_.ForEach(targets_, first, last, [&](int64_t i, int64_t of_class, int64_t /*at*/) {
      if (pace.stopped()) return;
      RowTerms terms = {of_class, 0, 0};
      if (of_class >= 0) {
        terms.weight = static_cast<double>(samples_.weight(of_class));
        const int64_t at = reduction_ == Reduction::kNone ? i : 0;
        terms.gradient = static_cast<double>(incoming.At(at)) / total_;
      }
      ForEachPiece(pace, classes_, [&](int64_t begin, size_t count) {
        WritePiece(terms, row.Read(i * classes_ + begin, count), weights.Read(begin, count), begin,
                   count, writer.Next(count));
      });
    });
  }

  HWY_INLINE void WritePiece(const RowTerms& terms, const T* x, const float* weight, int64_t begin,
                             size_t count, T* out) const {
    if (terms.of_class < 0) {
      std::fill_n(out, count, T());
      return;
    }
    const double of_target = smoothing_.of_target * terms.weight;
    const double scale = of_target + smoothing_.of_classes * sum_of_weights_;
    ScaledExponentials(x, weight, count, static_cast<float>(terms.gradient * scale),
                       static_cast<float>(terms.gradient * smoothing_.of_classes), out);
    if (terms.of_class < begin || terms.of_class - begin >= static_cast<int64_t>(count)) return;
    const auto at = static_cast<size_t>(terms.of_class - begin);
    // In one rounding: the exponential may be near what is taken off.
    const double rest = std::exp(static_cast<double>(ToFloat(x[at]))) * scale - of_target -
                        smoothing_.of_classes * terms.weight;
    Round(static_cast<float>(terms.gradient * rest), out[at]);
  }

  const KernelArgs& args_;
  const ClassTargets& targets_;
  const Smoothing smoothing_;
  const Reduction reduction_;
  const int64_t classes_;
  const StridedTensor incoming_;
  const StridedTensor log_prob_;
  const StridedTensor out_;
  const ClassSamples<T, float> samples_;
  double sum_of_weights_ = 0;
  double total_ = 1;
};

void CrossEntropyOf(const KernelArgs& args, const ClassTargets& targets) {
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    EntropyOfClasses<decltype(element)>(args, targets, PlanEntropy(args.call)).Run();
  });
}

void CrossEntropyGradOf(const KernelArgs& args, const ClassTargets& targets) {
  WithFloatType(args.call.input(1).dtype,
                [&](auto element) { EntropyGradient<decltype(element)>(args, targets).Run(); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(CrossEntropyOf);
HWY_EXPORT(CrossEntropyGradOf);

namespace {

size_t CrossEntropyWorkspace(const OpCall& call) { return PlanEntropy(call).bytes; }

size_t CrossEntropyGradWorkspace(const OpCall& call) {
  return SampleSumsBytes(call.input(1).shape[0], kChunk);
}

absl::Status ExecuteCrossEntropyLoss(const KernelArgs& args) {
  const ClassTargets targets(args, 1, args.call.input(0).shape[1], args.call.attribute<int64_t>(1));
  OPSERVE_RETURN_IF_ERROR(targets.Check());
  HWY_DYNAMIC_DISPATCH(CrossEntropyOf)(args, targets);
  return absl::OkStatus();
}

absl::Status ExecuteCrossEntropyGrad(const KernelArgs& args) {
  const ClassTargets targets(args, 2, args.call.input(1).shape[1], args.call.attribute<int64_t>(1));
  OPSERVE_RETURN_IF_ERROR(targets.Check());
  HWY_DYNAMIC_DISPATCH(CrossEntropyGradOf)(args, targets);
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kCrossEntropyLossKernel = {CrossEntropyWorkspace,
                                                         ExecuteCrossEntropyLoss};
extern constinit const Kernel kCrossEntropyLossGradKernel = {CrossEntropyGradWorkspace,
                                                             ExecuteCrossEntropyGrad};

}  // namespace opserve::cpu
#endif
