// The norms: out = (x − mean)·(rstd·γ) + β, mean and variance over the D·HxW elements of a group,
// rstd = 1/√(variance + ε).
//
// Sound whatever the mean: each piece is summed, then, from the nearest cache, its deviations from
// its own mean and their squares; pieces are put together in double (Chan, Golub and LeVeque).
// Where the mean counts as 0 the squares are those of the elements.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/norm.cc"
#include "hwy/foreach_target.h"

#include <cmath>

#include "core/backends/cpu/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of some elements: how many, their sum, and the sum of the squares of their deviations from their
// mean.
struct Statistics {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void Add(const Statistics& other) {
    if (count > 0) {
      const double distance = other.sum / other.count - sum / count;
      squares += distance * distance * (count * other.count / (count + other.count));
    }
    squares += other.squares;
    sum += other.sum;
    count += other.count;
  }
};

struct Moments {
  double mean;
  double rstd;
};

// Σ v(x) and Σ v(x)² of up to kTile elements, v = x − shift.
template <typename T>
HWY_INLINE void SumDeviations(const T* x, size_t count, float shift, double& sum, double& squares) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec m = hn::Set(d, shift);
  FloatVec sum0 = hn::Zero(d), sum1 = sum0, square0 = sum0, square1 = sum0;
  const auto add = [](FloatVec v, FloatVec& s, FloatVec& q) HWY_ATTR {
    s = hn::Add(s, v);
    q = hn::MulAdd(v, v, q);
  };
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    add(hn::Sub(LoadFloats(d, x + i), m), sum0, square0);
    add(hn::Sub(LoadFloats(d, x + i + lanes), m), sum1, square1);
  }
  for (; i + lanes <= count; i += lanes) add(hn::Sub(LoadFloats(d, x + i), m), sum0, square0);
  if (i < count) {
    const auto valid = hn::FirstN(d, count - i);
    add(hn::IfThenElseZero(valid, hn::Sub(LoadFirst(d, x + i, count - i), m)), sum1, square1);
  }
  sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1))));
  squares = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(square0, square1))));
}

template <typename T>
HWY_INLINE double SumElements(const T* x, size_t count) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  FloatVec sum0 = hn::Zero(d), sum1 = sum0;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum0 = hn::Add(sum0, LoadFloats(d, x + i));
    sum1 = hn::Add(sum1, LoadFloats(d, x + i + lanes));
  }
  for (; i + lanes <= count; i += lanes) sum0 = hn::Add(sum0, LoadFloats(d, x + i));
  if (i < count) sum1 = hn::Add(sum1, LoadFirst(d, x + i, count - i));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1))));
}

// The same of elements for whose sum or squares a float has no room. An infinity among them is
// their mean; their variance is not a number then.
template <typename T>
HWY_NOINLINE Statistics StatisticsInDouble(const T* x, size_t count) {
  const auto n = static_cast<double>(count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(ToFloat(x[i]));
  if (!std::isfinite(sum)) return {n, sum, std::numeric_limits<double>::quiet_NaN()};
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double deviation = static_cast<double>(ToFloat(x[i])) - sum / n;
    squares += deviation * deviation;
  }
  return {n, sum, squares};
}

template <typename T>
HWY_INLINE Statistics PieceStatistics(const T* x, size_t count, NormKind kind) {
  const auto n = static_cast<double>(count);
  double sum = 0;
  double squares = 0;
  if (kind == NormKind::kMeanSquare) {
    SumDeviations(x, count, 0, sum, squares);
    return {n, 0, squares};
  }
  const auto shift = static_cast<float>(SumElements(x, count) / n);
  if (!std::isfinite(shift)) return StatisticsInDouble(x, count);
  SumDeviations(x, count, shift, sum, squares);
  if (!std::isfinite(squares)) return StatisticsInDouble(x, count);
  return {n, static_cast<double>(shift) * n + sum, squares - sum * sum / n};
}

template <typename T>
HWY_INLINE void NormalizePiece(const T* x, size_t count, float mean, float scale, float offset,
                               T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec m = hn::Set(d, mean);
  const FloatVec k = hn::Set(d, scale);
  const FloatVec b = hn::Set(d, offset);
  const auto value = [&](FloatVec v) HWY_ATTR { return hn::MulAdd(hn::Sub(v, m), k, b); };
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const FloatPair v = LoadPair(d, x + i);
    StorePair({value(v.first), value(v.second)}, d, out + i);
  }
  if (i + lanes <= count) {
    StoreFloats(value(LoadFloats(d, x + i)), d, out + i);
    i += lanes;
  }
  if (i == count) return;
  if (count >= lanes) {
    i = count - lanes;
    StoreFloats(value(LoadFloats(d, x + i)), d, out + i);
  } else {
    StoreFirst(value(LoadFirst(d, x, count)), d, out, count);
  }
}

// The same with a scale and an offset for each element.
template <typename T>
HWY_INLINE void NormalizeEach(const T* x, size_t count, float mean, float rstd, const float* gamma,
                              const float* beta, T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto value = [&](FloatVec v, FloatVec g, FloatVec b) HWY_ATTR {
    return hn::MulAdd(hn::Sub(v, hn::Set(d, mean)), hn::Mul(hn::Set(d, rstd), g), b);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StoreFloats(value(LoadFloats(d, x + i), hn::LoadU(d, gamma + i), hn::LoadU(d, beta + i)), d,
                out + i);
  }
  if (i == count) return;
  const size_t rest = count - i;
  StoreFirst(
      value(LoadFirst(d, x + i, rest), LoadFirst(d, gamma + i, rest), LoadFirst(d, beta + i, rest)),
      d, out + i, rest);
}

template <typename T>
class Normalization {
 public:
  Normalization(const KernelArgs& args, const NormCall& call)
      : args_(args),
        call_(call),
        plan_(PlanNorm(call)),
        geometry_(plan_.geometry),
        x_(NormInputTensor(args, call.x)),
        out_(NormOutputTensor(args, call.out)),
        mean_out_(NormOutputTensor(args, call.mean_out)),
        rstd_out_(NormOutputTensor(args, call.rstd_out)),
        mean_(NormInputTensor(args, call.mean)),
        variance_(NormInputTensor(args, call.variance)),
        running_(args, call),
        store_(IsStreamed(call.out.desc.size_bytes()) ? Store::kStreamed : Store::kCached),
        eps_(static_cast<double>(static_cast<float>(call.eps))),
        gamma_(ScratchAt<float>(args.workspace, plan_.gamma)),
        beta_(ScratchAt<float>(args.workspace, plan_.beta)) {}

  void Run() {
    if (call_.kind == NormKind::kFixed) StoreFixedMoments();
    if (geometry_.n == 0) return;
    if (geometry_.group_elements() == 0) return StoreEmptyMoments();
    LoadChannels(args_, call_.gamma, 1.0f, geometry_, gamma_);
    LoadChannels(args_, call_.beta, 0.0f, geometry_, beta_);
    if (geometry_.split) {
      RunSplit();
    } else {
      RunWhole();
    }
  }

 private:
  // What a call keeps of earlier ones.
  struct Running {
    Running(const KernelArgs& args, const NormCall& call)
        : mean(NormInputTensor(args, call.running_mean)),
          variance(NormInputTensor(args, call.running_variance)),
          mean_out(NormOutputTensor(args, call.running_mean_out)),
          variance_out(NormOutputTensor(args, call.running_variance_out)) {}
    const StridedTensor mean;
    const StridedTensor variance;
    const StridedTensor mean_out;
    const StridedTensor variance_out;
  };

  void WriteMoments(int64_t group, const Moments& moments) const {
    ValueWriter{mean_out_}.Write(group, moments.mean);
    ValueWriter{rstd_out_}.Write(group, moments.rstd);
  }

  // The running ones of a group, too.
  void WriteMoments(int64_t group, const Statistics& statistics, const Moments& moments) const {
    if (call_.kind == NormKind::kFixed) return;
    WriteMoments(group, moments);
    WriteRunning(group, call_.momentum, moments.mean, statistics.squares / (statistics.count - 1));
  }

  void WriteRunning(int64_t group, double momentum, double mean, double variance) const {
    const auto write = [&](const StridedTensor& was, const StridedTensor& out, double is) {
      if (out.operand.output == nullptr) return;
      const auto before = static_cast<double>(ValueReader(was).At(group));
      ValueWriter(out).Write(group, (1 - momentum) * before + momentum * is);
    };
    write(running_.mean, running_.mean_out, mean);
    write(running_.variance, running_.variance_out, variance);
  }

  // As PyTorch has them.
  void StoreEmptyMoments() {
    if (call_.kind == NormKind::kFixed) return;
    ParallelRanges(args_.workers, geometry_.groups(), kChunk, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        WriteMoments(i, {0.0, std::numeric_limits<double>::quiet_NaN()});
        WriteRunning(i, 0, 0, 0);
      }
    });
  }

  void StoreFixedMoments() {
    if (!call_.mean_out.given() && !call_.rstd_out.given()) return;
    ParallelRanges(args_.workers, geometry_.group, kChunk, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) WriteMoments(i, FixedMoments(i));
    });
  }

  Moments FixedMoments(int64_t group) const {
    const auto variance = static_cast<double>(ValueReader{variance_}.At(group));
    return {static_cast<double>(ValueReader{mean_}.At(group)), 1.0 / std::sqrt(variance + eps_)};
  }

  Moments MomentsOf(int64_t group, const Statistics& statistics) const {
    if (call_.kind == NormKind::kFixed) return FixedMoments(group);
    return {statistics.sum / statistics.count,
            1.0 / std::sqrt(statistics.squares / statistics.count + eps_)};
  }

  // Every group by one thread: all passes while it is in the cache.
  void RunWhole() {
    const int64_t elements = geometry_.group_elements();
    ParallelRanges(
        args_.workers, geometry_.groups(), UnitsOfChunk(elements),
        [&](int64_t first, int64_t last) {
          Pace pace(args_.workers);
          RunReader<T> x(x_);
          RunWriter<T> writer(out_, first * elements, store_);
          for (int64_t group = first; group < last && pace.Goes(kStatisticsCost); ++group) {
            Statistics statistics;
            ForEachPiece(pace, sums_ ? elements : 0, [&](int64_t i, size_t count) {
              statistics.Add(
                  PieceStatistics(x.Read(group * elements + i, count), count, call_.kind));
            });
            if (pace.stopped()) return;
            const Moments moments = MomentsOf(group, statistics);
            WriteMoments(group, statistics, moments);
            for (int64_t run = group * RunsOfGroup(); run < (group + 1) * RunsOfGroup(); ++run) {
              ForEachPiece(pace, RunElements(), [&](int64_t i, size_t count) {
                WritePiece(x, run, i, count, moments, writer);
              });
            }
          }
        });
  }

  // A run of elements is written at a time: a row, or a whole group where rows are short.
  int64_t RunElements() const { return geometry_.flat ? geometry_.group_elements() : geometry_.hw; }
  int64_t RunsOfGroup() const { return geometry_.flat ? 1 : geometry_.channels; }

  HWY_INLINE void WritePiece(RunReader<T>& x, int64_t run, int64_t begin, size_t count,
                             const Moments& moments, RunWriter<T>& writer) {
    const T* in = x.Read(run * RunElements() + begin, count);
    const auto mean = static_cast<float>(moments.mean);
    const int64_t parameter = run % (geometry_.group * RunsOfGroup());
    if (geometry_.flat) {
      const int64_t i = parameter * RunElements() + begin;
      NormalizeEach(in, count, mean, static_cast<float>(moments.rstd), gamma_ + i, beta_ + i,
                    writer.Next(count));
    } else {
      const auto scale = static_cast<float>(moments.rstd * static_cast<double>(gamma_[parameter]));
      NormalizePiece(in, count, mean, scale, beta_[parameter], writer.Next(count));
    }
  }

  void RunSplit() {
    auto* pieces = ScratchAt<Statistics>(args_.workspace, plan_.pieces);
    auto* moments = ScratchAt<Moments>(args_.workspace, plan_.moments);
    const int64_t of_group = NumPieces(geometry_.group_elements());
    ParallelRanges(args_.workers, sums_ ? geometry_.groups() * of_group : 0, UnitsOfChunk(kPiece),
                   [&](int64_t first, int64_t last) { SumPieces(first, last, pieces); });
    ParallelRanges(args_.workers, geometry_.groups(), UnitsOfChunk(of_group * kStatisticsCost),
                   [&](int64_t first, int64_t last) { SumGroups(first, last, pieces, moments); });
    const int64_t runs = geometry_.groups() * RunsOfGroup();
    ParallelRanges(args_.workers, runs * NumPieces(RunElements()),
                   UnitsOfChunk(std::min(RunElements(), kPiece)),
                   [&](int64_t first, int64_t last) { WritePieces(first, last, moments); });
  }

  void SumPieces(int64_t first, int64_t last, Statistics* pieces) {
    RunReader<T> x(x_);
    const int64_t elements = geometry_.group_elements();
    const int64_t of_group = NumPieces(elements);
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = i % of_group * kPiece;
      const auto count = static_cast<size_t>(std::min(kPiece, elements - begin));
      pieces[i] =
          PieceStatistics(x.Read(i / of_group * elements + begin, count), count, call_.kind);
    }
  }

  void SumGroups(int64_t first, int64_t last, const Statistics* pieces, Moments* moments) {
    Pace pace(args_.workers);
    const int64_t of_group = sums_ ? NumPieces(geometry_.group_elements()) : 0;
    for (int64_t group = first; group < last; ++group) {
      Statistics statistics;
      for (const auto [begin, end] : pace.InBlocks(of_group, kStatisticsCost)) {
        for (int64_t i = begin; i < end; ++i) statistics.Add(pieces[group * of_group + i]);
      }
      if (pace.stopped()) return;
      moments[group] = MomentsOf(group, statistics);
      WriteMoments(group, statistics, moments[group]);
    }
  }

  void WritePieces(int64_t first, int64_t last, const Moments* moments) {
    RunReader<T> x(x_);
    const int64_t elements = RunElements();
    const int64_t of_run = NumPieces(elements);
    RunWriter<T> writer(out_, first / of_run * elements + first % of_run * kPiece, store_);
    for (int64_t i = first; i < last; ++i) {
      const int64_t run = i / of_run;
      const int64_t begin = i % of_run * kPiece;
      const auto count = static_cast<size_t>(std::min(kPiece, elements - begin));
      WritePiece(x, run, begin, count, moments[run / RunsOfGroup()], writer);
    }
  }

  const KernelArgs& args_;
  const NormCall& call_;
  const NormPlan plan_;
  const GroupGeometry& geometry_;
  const StridedTensor x_;
  const StridedTensor out_;
  const StridedTensor mean_out_;
  const StridedTensor rstd_out_;
  const StridedTensor mean_;
  const StridedTensor variance_;
  const Running running_;
  const Store store_;
  const double eps_;
  float* const gamma_;  // of each channel
  float* const beta_;
  const bool sums_ = call_.kind != NormKind::kFixed;  // elements are summed
};

void Normalize(const KernelArgs& args, const NormCall& call) {
  WithFloatType(call.x.desc.dtype,
                [&](auto element) { Normalization<decltype(element)>(args, call).Run(); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(Normalize);

size_t NormWorkspace(const NormCall& call) { return PlanNorm(call).bytes; }

void RunNorm(const KernelArgs& args, const NormCall& call) {
  HWY_DYNAMIC_DISPATCH(Normalize)(args, call);
}

}  // namespace opserve::cpu
#endif
