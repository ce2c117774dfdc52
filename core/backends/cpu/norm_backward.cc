// The gradients of the norms. For each row (n, c) of HxW elements: ds = Σ dy·(x − mean), db = Σ dy.
// For each group, s = 1/(D·HxW):
//   grad_input = rstd·γ·dy − DS·rstd³·s·(x − mean) − DB·rstd·s,  DS = Σ γ·ds, DB = Σ γ·db over its
//   D rows grad_gamma = Σₙ ds·rstd, grad_beta = Σₙ db
// which is the contract's c1·dy + c2·x + c3 with the mean taken out before summing instead of
// after. Where the mean counts as 0, DB does, too; where the moments are fixed, DS and DB do. Sums
// are float vectors within a piece, double beyond.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/norm_backward.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/norm-inl.h"
#include "core/backends/cpu/norm_flat-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// The sums of up to kTile elements.
template <typename T>
HWY_INLINE RowSums SumPiece(const T* dy, const T* x, size_t count, float mean) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec m = hn::Set(d, mean);
  FloatVec ds0 = hn::Zero(d), ds1 = ds0, ds2 = ds0, ds3 = ds0;
  FloatVec db0 = ds0, db1 = ds0, db2 = ds0, db3 = ds0;
  const auto step = [&](size_t i, FloatVec& ds, FloatVec& db) HWY_ATTR {
    const FloatVec g = LoadFloats(d, dy + i);
    ds = hn::MulAdd(g, hn::Sub(LoadFloats(d, x + i), m), ds);
    db = hn::Add(db, g);
  };
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    step(i, ds0, db0);
    step(i + lanes, ds1, db1);
    step(i + 2 * lanes, ds2, db2);
    step(i + 3 * lanes, ds3, db3);
  }
  for (; i + lanes <= count; i += lanes) step(i, ds0, db0);
  if (i < count) {
    FloatVec g = hn::Zero(d);
    FloatVec v = g;
    if (count >= lanes) {
      // The last vector again, without the lanes that were summed already.
      const auto old = hn::FirstN(d, lanes - (count - i));
      g = hn::IfThenZeroElse(old, LoadFloats(d, dy + count - lanes));
      v = hn::IfThenZeroElse(old, hn::Sub(LoadFloats(d, x + count - lanes), m));
    } else {
      g = LoadFirst(d, dy, count);
      v = hn::IfThenElseZero(hn::FirstN(d, count), hn::Sub(LoadFirst(d, x, count), m));
    }
    ds1 = hn::MulAdd(g, v, ds1);
    db1 = hn::Add(db1, g);
  }
  const FloatVec ds = hn::Add(hn::Add(ds0, ds1), hn::Add(ds2, ds3));
  const FloatVec db = hn::Add(hn::Add(db0, db1), hn::Add(db2, db3));
  return {static_cast<double>(hn::GetLane(hn::SumOfLanes(d, ds))),
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, db)))};
}

template <typename T>
HWY_INLINE void WritePiece(const T* dy, const T* x, size_t count, float gamma,
                           const Coefficients& k, T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const FloatVec m = hn::Set(d, k.mean);
  const FloatVec c1 = hn::Set(d, static_cast<float>(k.rstd * static_cast<double>(gamma)));
  const FloatVec c2 = hn::Set(d, k.c2);
  const FloatVec c3 = hn::Set(d, k.c3);
  const auto value = [&](FloatVec g, FloatVec v)
                         HWY_ATTR { return hn::MulAdd(c1, g, hn::MulAdd(c2, hn::Sub(v, m), c3)); };
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const FloatPair g = LoadPair(d, dy + i);
    const FloatPair v = LoadPair(d, x + i);
    StorePair({value(g.first, v.first), value(g.second, v.second)}, d, out + i);
  }
  if (i + lanes <= count) {
    StoreFloats(value(LoadFloats(d, dy + i), LoadFloats(d, x + i)), d, out + i);
    i += lanes;
  }
  if (i == count) return;
  if (count >= lanes) {
    i = count - lanes;
    StoreFloats(value(LoadFloats(d, dy + i), LoadFloats(d, x + i)), d, out + i);
  } else {
    StoreFirst(value(LoadFirst(d, dy, count), LoadFirst(d, x, count)), d, out, count);
  }
}

// scale·dy: x does not matter.
template <typename T>
HWY_INLINE void ScalePiece(const T* dy, size_t count, double scale, T* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    StoreFloats(Scaled(d, scale, LoadFloats(d, dy + i)), d, out + i);
  if (i == count) return;
  StoreFirst(Scaled(d, scale, LoadFirst(d, dy + i, count - i)), d, out + i, count - i);
}

template <typename T>
class NormGradient {
 public:
  NormGradient(const KernelArgs& args, const NormGradientCall& call, const NormGradientPlan& plan)
      : args_(args),
        call_(call),
        plan_(plan),
        geometry_(plan_.geometry),
        dy_(NormInputTensor(args, call.dy)),
        x_(NormInputTensor(args, call.x)),
        mean_(NormInputTensor(args, call.mean)),
        rstd_(NormInputTensor(args, call.rstd)),
        out_(NormOutputTensor(args, call.dx)) {
    if (plan_.wants_input) {
      gamma_ = ScratchAt<float>(args.workspace, plan_.gamma);
      store_ = IsStreamed(call.dx.desc.size_bytes()) ? Store::kStreamed : Store::kCached;
    }
    if (plan_.wants_gamma) gamma_terms_ = ScratchAt<double>(args.workspace, plan_.gamma_terms);
    if (plan_.wants_beta) beta_terms_ = ScratchAt<double>(args.workspace, plan_.beta_terms);
  }

  void Run() {
    if (geometry_.hw > 0 && geometry_.rows() > 0) {
      if (plan_.wants_input) LoadChannels(args_, call_.gamma, 1.0f, geometry_, gamma_);
      if (geometry_.split) {
        RunSplit();
      } else {
        RunWhole();
      }
    }
    if (plan_.wants_gamma) StoreChannels(call_.dgamma, gamma_terms_);
    if (plan_.wants_beta) StoreChannels(call_.dbeta, beta_terms_);
  }

 private:
  // A thread's view of the data.
  struct Readers {
    explicit Readers(const NormGradient& norm)
        : dy(norm.dy_), x(norm.x_), moments(norm.call_, norm.mean_, norm.rstd_) {}
    RunReader<T> dy;
    RunReader<T> x;
    MomentReader moments;
  };

  // Every group by one thread: both passes while it is in the cache.
  void RunWhole() {
    ParallelRanges(args_.workers, geometry_.groups(), UnitsOfChunk(geometry_.group_elements()),
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     Readers in(*this);
                     RunWriter<T> writer(out_, first * geometry_.group_elements(), store_);
                     for (int64_t group = first; group < last && !pace.stopped(); ++group) {
                       const int64_t row = group * geometry_.channels;
                       const float mean = in.moments.Mean(group);
                       const Coefficients k = SumGroup(pace, in, group, [&](int64_t i) {
                         return SumRow(pace, in, row + i, mean);
                       });
                       if (plan_.wants_input) WriteGroup(pace, in, row, k, writer);
                     }
                   });
  }

  HWY_INLINE RowSums SumRow(Pace& pace, Readers& in, int64_t row, float mean) {
    RowSums sums;
    ForEachPiece(pace, geometry_.hw, [&](int64_t i, size_t count) {
      const int64_t begin = row * geometry_.hw + i;
      sums.Add(SumPiece(in.dy.Read(begin, count), in.x.Read(begin, count), count, mean));
    });
    return sums;
  }

  // Sums a group's rows, where row_sums(i) are those of its i-th, and keeps what grad_gamma and
  // grad_beta need.
  template <typename Sums>
  HWY_INLINE Coefficients SumGroup(Pace& pace, Readers& in, int64_t group, const Sums& row_sums) {
    const float mean = in.moments.Mean(group);
    const double rstd = in.moments.Rstd(group);
    const int64_t channel = group % geometry_.group * geometry_.channels;
    RowSums total;
    for (int64_t i = 0; i < geometry_.channels && pace.Goes(kStatisticsCost); ++i) {
      const RowSums sums = sums_ ? row_sums(i) : RowSums();
      const int64_t row = group * geometry_.channels + i;
      if (plan_.wants_gamma) gamma_terms_[row] = sums.ds * rstd;
      if (plan_.wants_beta) beta_terms_[row] = sums.db;
      if (!plan_.wants_input) continue;
      const auto gamma = static_cast<double>(gamma_[channel + i]);
      total.Add({gamma * sums.ds, gamma * sums.db});
    }
    return MakeCoefficients(call_.kind, geometry_, mean, rstd, total);
  }

  HWY_INLINE void WriteGroup(Pace& pace, Readers& in, int64_t row, const Coefficients& k,
                             RunWriter<T>& writer) {
    const float* gammas = gamma_ + row % geometry_.c;
    for (int64_t i = 0; i < geometry_.channels; ++i) {
      const float gamma = gammas[i];
      ForEachPiece(pace, geometry_.hw, [&](int64_t j, size_t count) {
        const int64_t begin = (row + i) * geometry_.hw + j;
        WriteElements(in, begin, count, gamma, k, writer.Next(count));
      });
    }
  }

  HWY_INLINE void WriteElements(Readers& in, int64_t begin, size_t count, float gamma,
                                const Coefficients& k, T* out) {
    if (call_.kind == NormKind::kFixed)
      return ScalePiece(in.dy.Read(begin, count), count, k.rstd * static_cast<double>(gamma), out);
    WritePiece(in.dy.Read(begin, count), in.x.Read(begin, count), count, gamma, k, out);
  }

  // A piece of a row, the unit of work where threads share groups.
  struct Piece {
    int64_t row;
    int64_t begin;
    size_t count;
  };

  Piece PieceAt(int64_t index) const {
    const int64_t row = index / NumPieces(geometry_.hw);
    const int64_t i = index % NumPieces(geometry_.hw) * kPiece;
    return {row, row * geometry_.hw + i, static_cast<size_t>(std::min(kPiece, geometry_.hw - i))};
  }

  void RunSplit() {
    auto* pieces = ScratchAt<RowSums>(args_.workspace, plan_.pieces);
    auto* coefficients = ScratchAt<Coefficients>(args_.workspace, plan_.coefficients);
    const int64_t of_row = NumPieces(geometry_.hw);
    const int64_t count = geometry_.rows() * of_row;
    const int64_t of_chunk = UnitsOfChunk(std::min(geometry_.hw, kPiece));
    ParallelRanges(args_.workers, sums_ ? count : 0, of_chunk,
                   [&](int64_t first, int64_t last) { SumPieces(first, last, pieces); });
    ParallelRanges(args_.workers, geometry_.groups(), UnitsOfChunk(geometry_.channels * of_row),
                   [&](int64_t first, int64_t last) {
                     Pace pace(args_.workers);
                     Readers in(*this);
                     for (int64_t group = first; group < last && !pace.stopped(); ++group) {
                       coefficients[group] = SumGroup(pace, in, group, [&](int64_t i) {
                         RowSums sums;
                         const RowSums* row = pieces + (group * geometry_.channels + i) * of_row;
                         pace.Goes(of_row);
                         for (const auto [begin, end] : pace.InBlocks(of_row)) {
                           for (int64_t k = begin; k < end; ++k) sums.Add(row[k]);
                         }
                         return sums;
                       });
                     }
                   });
    if (!plan_.wants_input) return;
    ParallelRanges(args_.workers, count, of_chunk,
                   [&](int64_t first, int64_t last) { WritePieces(first, last, coefficients); });
  }

  void SumPieces(int64_t first, int64_t last, RowSums* pieces) {
    Readers in(*this);
    for (int64_t i = first; i < last; ++i) {
      const Piece piece = PieceAt(i);
      const float mean = in.moments.Mean(piece.row / geometry_.channels);
      pieces[i] = SumPiece(in.dy.Read(piece.begin, piece.count),
                           in.x.Read(piece.begin, piece.count), piece.count, mean);
    }
  }

  void WritePieces(int64_t first, int64_t last, const Coefficients* coefficients) {
    Readers in(*this);
    RunWriter<T> writer(out_, PieceAt(first).begin, store_);
    for (int64_t i = first; i < last; ++i) {
      const Piece piece = PieceAt(i);
      WriteElements(in, piece.begin, piece.count, gamma_[piece.row % geometry_.c],
                    coefficients[piece.row / geometry_.channels], writer.Next(piece.count));
    }
  }

  // output[c] = Σₙ terms[n][c]
  void StoreChannels(const NormTensor& output, const double* terms) {
    const StridedTensor tensor = NormOutputTensor(args_, output);
    const int64_t batches = geometry_.hw == 0 ? 0 : geometry_.n;
    constexpr int64_t kBlock = 256;
    ParallelRanges(args_.workers, geometry_.c, kBlock, [&](int64_t first, int64_t last) {
      Pace pace(args_.workers);
      double sums[kBlock] = {};
      const auto count = static_cast<size_t>(last - first);
      for (int64_t n = 0; n < batches && pace.Goes(last - first); ++n) {
        const double* term = terms + n * geometry_.c + first;
        for (size_t i = 0; i < count; ++i) sums[i] += term[i];
      }
      if (!pace.stopped()) StoreSums(tensor, first, {sums, count});
    });
  }

  const KernelArgs& args_;
  const NormGradientCall& call_;
  const NormGradientPlan& plan_;
  const GroupGeometry& geometry_;
  const StridedTensor dy_;
  const StridedTensor x_;
  const StridedTensor mean_;
  const StridedTensor rstd_;
  const StridedTensor out_;
  Store store_ = Store::kCached;
  float* gamma_ = nullptr;         // of each channel
  double* gamma_terms_ = nullptr;  // of each row
  double* beta_terms_ = nullptr;
  // Whether elements are summed.
  const bool sums_ = call_.kind != NormKind::kFixed || plan_.wants_gamma || plan_.wants_beta;
};

void NormalizeBackward(const KernelArgs& args, const NormGradientCall& call) {
  const NormGradientPlan plan = PlanNormGradient(call);
  WithFloatType(call.x.desc.dtype, [&](auto element) {
    using T = decltype(element);
    if (plan.geometry.flat) return FlatNormGradient<T>(args, call, plan).Run();
    NormGradient<T>(args, call, plan).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(NormalizeBackward);

size_t NormWorkspace(const NormGradientCall& call) { return PlanNormGradient(call).bytes; }

void RunNorm(const KernelArgs& args, const NormGradientCall& call) {
  HWY_DYNAMIC_DISPATCH(NormalizeBackward)(args, call);
}

}  // namespace opserve::cpu
#endif
