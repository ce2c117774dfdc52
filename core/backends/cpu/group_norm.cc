// GroupNorm: out = (x − mean)·(rstd·γ) + β, mean and variance over the D·HxW elements of a group,
// rstd = 1/√(variance + ε).
//
// Sound whatever the mean: each piece is summed, then, from the nearest cache, its deviations from
// its own mean and their squares; pieces are put together in double (Chan, Golub and LeVeque).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/group_norm.cc"
#include "hwy/foreach_target.h"

#include <cmath>

#include "core/backends/cpu/group_norm-inl.h"

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

template <typename T>
HWY_INLINE Statistics PieceStatistics(const T* x, size_t count) {
  const auto n = static_cast<double>(count);
  const auto shift = static_cast<float>(SumElements(x, count) / n);
  // An infinity among the elements: their mean is it, their variance is not a number.
  if (!std::isfinite(shift))
    return {n, static_cast<double>(shift) * n, std::numeric_limits<double>::quiet_NaN()};
  double sum = 0;
  double squares = 0;
  SumDeviations(x, count, shift, sum, squares);
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
  for (; i + lanes <= count; i += lanes) StoreFloats(value(LoadFloats(d, x + i)), d, out + i);
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
class GroupNormalization {
 public:
  explicit GroupNormalization(const KernelArgs& args)
      : args_(args),
        plan_(PlanGroupNorm(args.call)),
        geometry_(plan_.geometry),
        x_(InputTensor(args, 0)),
        out_(OutputTensor(args, 0)),
        mean_(OutputTensor(args, 1)),
        rstd_(OutputTensor(args, 2)),
        store_(IsStreamed(args.call.output(0).desc.size_bytes()) ? Store::kStreamed
                                                                 : Store::kCached),
        eps_(static_cast<double>(static_cast<float>(args.call.attribute<double>(4)))),
        gamma_(ScratchAt<float>(args.workspace, plan_.gamma)),
        beta_(ScratchAt<float>(args.workspace, plan_.beta)) {}

  void Run() {
    if (geometry_.n == 0) return;
    if (geometry_.group_elements() == 0) return StoreEmptyMoments();
    LoadChannels<T>(args_, 1, 1.0f, geometry_, gamma_);
    LoadChannels<T>(args_, 2, 0.0f, geometry_, beta_);
    if (geometry_.split) {
      RunSplit();
    } else {
      RunWhole();
    }
  }

 private:
  struct MomentWriters {
    MomentWriters(const GroupNormalization& call, int64_t group)
        : mean(call.mean_, group, Store::kCached), rstd(call.rstd_, group, Store::kCached) {}
    void Write(const Moments& moments) {
      Round(static_cast<float>(moments.mean), *mean.Next(1));
      Round(static_cast<float>(moments.rstd), *rstd.Next(1));
    }
    RunWriter<T> mean;
    RunWriter<T> rstd;
  };

  // As PyTorch has them.
  void StoreEmptyMoments() {
    ParallelRanges(args_.workers, geometry_.groups(), kChunk, [&](int64_t first, int64_t last) {
      MomentWriters writers(*this, first);
      for (int64_t i = first; i < last; ++i)
        writers.Write({0.0, std::numeric_limits<double>::quiet_NaN()});
    });
  }

  Moments MomentsOf(const Statistics& statistics) const {
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
          MomentWriters writers(*this, first);
          for (int64_t group = first; group < last && pace.Goes(kStatisticsCost); ++group) {
            Statistics statistics;
            ForEachPiece(pace, elements, [&](int64_t i, size_t count) {
              statistics.Add(PieceStatistics(x.Read(group * elements + i, count), count));
            });
            if (pace.stopped()) return;
            const Moments moments = MomentsOf(statistics);
            writers.Write(moments);
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
    ParallelRanges(args_.workers, geometry_.groups() * of_group, UnitsOfChunk(kPiece),
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
      pieces[i] = PieceStatistics(x.Read(i / of_group * elements + begin, count), count);
    }
  }

  void SumGroups(int64_t first, int64_t last, const Statistics* pieces, Moments* moments) {
    Pace pace(args_.workers);
    MomentWriters writers(*this, first);
    const int64_t of_group = NumPieces(geometry_.group_elements());
    for (int64_t group = first; group < last; ++group) {
      Statistics statistics;
      for (const auto [begin, end] : pace.InBlocks(of_group, kStatisticsCost)) {
        for (int64_t i = begin; i < end; ++i) statistics.Add(pieces[group * of_group + i]);
      }
      if (pace.stopped()) return;
      moments[group] = MomentsOf(statistics);
      writers.Write(moments[group]);
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
  const GroupNormPlan plan_;
  const GroupGeometry& geometry_;
  const StridedTensor x_;
  const StridedTensor out_;
  const StridedTensor mean_;
  const StridedTensor rstd_;
  const Store store_;
  const double eps_;
  float* const gamma_;  // of each channel
  float* const beta_;
};

void GroupNorm(const KernelArgs& args) {
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { GroupNormalization<decltype(element)>(args).Run(); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

size_t GroupNormWorkspace(const OpCall& call) { return PlanGroupNorm(call).bytes; }

}  // namespace

OPSERVE_CPU_KERNEL(GroupNorm, GroupNormWorkspace);

}  // namespace opserve::cpu
#endif
