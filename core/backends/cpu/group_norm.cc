// GroupNorm: out = (x − mean)·(rstd·γ) + β, mean and variance over the D·HxW elements of a group, rstd = 1/√(variance + ε).
//
// Sound whatever the mean: each piece is summed, then, from the nearest cache, its deviations from its own mean and their
// squares; pieces are put together in double (Chan, Golub and LeVeque).
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/group_norm.cc"
#include "hwy/foreach_target.h"

#include <cmath>

#include "core/backends/cpu/group_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Of some elements: how many, their sum, and the sum of the squares of their deviations from their mean.
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
  if (!std::isfinite(shift)) return {n, static_cast<double>(shift) * n, std::numeric_limits<double>::quiet_NaN()};
  double sum = 0;
  double squares = 0;
  SumDeviations(x, count, shift, sum, squares);
  return {n, static_cast<double>(shift) * n + sum, squares - sum * sum / n};
}

template <typename T>
HWY_INLINE void NormalizePiece(const T* x, size_t count, float mean, float scale, float offset, T* out) {
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
        store_(IsStreamed(args.call.output(0).desc.size_bytes()) ? Store::kStreamed : Store::kCached),
        eps_(static_cast<double>(static_cast<float>(args.call.attribute<double>(4)))),
        gamma_(ScratchAt<float>(args.workspace, plan_.gamma)),
        beta_(ScratchAt<float>(args.workspace, plan_.beta)) {}

  void Run() {
    if (geometry_.n == 0) return;
    if (geometry_.group_elements() == 0) return StoreEmptyMoments();
    LoadChannels<T>(args_, 1, 1.0f, geometry_.c, gamma_);
    LoadChannels<T>(args_, 2, 0.0f, geometry_.c, beta_);
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
    MomentWriters writers(*this, 0);
    for (int64_t i = 0; i < geometry_.groups(); ++i) writers.Write({0.0, std::numeric_limits<double>::quiet_NaN()});
  }

  Moments MomentsOf(const Statistics& statistics) const {
    return {statistics.sum / statistics.count, 1.0 / std::sqrt(statistics.squares / statistics.count + eps_)};
  }

  // Every group by one thread: all passes while it is in the cache.
  void RunWhole() {
    const int64_t elements = geometry_.group_elements();
    ParallelRanges(args_.workers, geometry_.groups(), UnitsOfChunk(elements), [&](int64_t first, int64_t last) {
      RunReader<T> x(x_);
      RunWriter<T> writer(out_, first * elements, store_);
      MomentWriters writers(*this, first);
      for (int64_t group = first; group < last; ++group) {
        Statistics statistics;
        ForEachPiece(elements, [&](int64_t i, size_t count) {
          statistics.Add(PieceStatistics(x.Read(group * elements + i, count), count));
        });
        const Moments moments = MomentsOf(statistics);
        writers.Write(moments);
        for (int64_t row = group * geometry_.channels; row < (group + 1) * geometry_.channels; ++row) {
          ForEachPiece(geometry_.hw, [&](int64_t i, size_t count) { WritePiece(x, row, i, count, moments, writer); });
        }
      }
    });
  }

  HWY_INLINE void WritePiece(RunReader<T>& x, int64_t row, int64_t begin, size_t count, const Moments& moments,
                             RunWriter<T>& writer) {
    const int64_t channel = row % geometry_.c;
    const auto scale = static_cast<float>(moments.rstd * static_cast<double>(gamma_[channel]));
    NormalizePiece(x.Read(row * geometry_.hw + begin, count), count, static_cast<float>(moments.mean), scale,
                   beta_[channel], writer.Next(count));
  }

  void RunSplit() {
    auto* pieces = ScratchAt<Statistics>(args_.workspace, plan_.pieces);
    auto* moments = ScratchAt<Moments>(args_.workspace, plan_.moments);
    const int64_t of_group = NumPieces(geometry_.group_elements());
    ParallelRanges(args_.workers, geometry_.groups() * of_group, UnitsOfChunk(kPiece),
                   [&](int64_t first, int64_t last) { SumPieces(first, last, pieces); });
    MomentWriters writers(*this, 0);
    for (int64_t group = 0; group < geometry_.groups(); ++group) {
      Statistics statistics;
      for (int64_t i = 0; i < of_group; ++i) statistics.Add(pieces[group * of_group + i]);
      moments[group] = MomentsOf(statistics);
      writers.Write(moments[group]);
    }
    const int64_t of_row = NumPieces(geometry_.hw);
    ParallelRanges(args_.workers, geometry_.rows() * of_row, UnitsOfChunk(std::min(geometry_.hw, kPiece)),
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

  void WritePieces(int64_t first, int64_t last, const Moments* moments) {
    RunReader<T> x(x_);
    const int64_t of_row = NumPieces(geometry_.hw);
    RunWriter<T> writer(out_, first / of_row * geometry_.hw + first % of_row * kPiece, store_);
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = i / of_row;
      const int64_t begin = i % of_row * kPiece;
      const auto count = static_cast<size_t>(std::min(kPiece, geometry_.hw - begin));
      WritePiece(x, row, begin, count, moments[row / geometry_.channels], writer);
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
  WithFloatType(args.call.input(0).dtype, [&](auto element) { GroupNormalization<decltype(element)>(args).Run(); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(GroupNorm);

namespace {

absl::Status ExecuteGroupNorm(const KernelArgs& args) {
  HWY_DYNAMIC_DISPATCH(GroupNorm)(args);
  return absl::OkStatus();
}

size_t GroupNormWorkspace(const OpCall& call) { return PlanGroupNorm(call).bytes; }

}  // namespace

extern constinit const Kernel kGroupNormKernel = {GroupNormWorkspace, ExecuteGroupNorm};

}  // namespace opserve::cpu
#endif
