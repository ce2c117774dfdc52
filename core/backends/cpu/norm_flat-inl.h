// The gradients of the norms where rows are short: a batch is one run of elements, with gamma held
// once for each. Sums for grad_gamma and grad_beta are kept for each element of a batch, over some
// batches as floats, over all and over HxW as doubles. Included once a SIMD target.

#include <cmath>
#include <span>

#include "core/backends/cpu/norm_plan.h"

#if defined(OPSERVE_CPU_NORM_FLAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_NORM_FLAT_INL_H_
#undef OPSERVE_CPU_NORM_FLAT_INL_H_
#else
#define OPSERVE_CPU_NORM_FLAT_INL_H_
#endif

#include "core/backends/cpu/math-inl.h"
#include "core/backends/cpu/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct RowSums {
  double ds = 0;
  double db = 0;

  void Add(const RowSums& other) {
    ds += other.ds;
    db += other.db;
  }
};

// Coefficients of a group; c1 = rstd·γ differs by channel.
struct Coefficients {
  double rstd;
  float mean;
  float c2;
  float c3;
};

// Of the sums of a group, weighted by gamma.
inline Coefficients MakeCoefficients(NormKind kind, const GroupGeometry& geometry, float mean,
                                     double rstd, const RowSums& total) {
  if (kind == NormKind::kFixed) return {rstd, mean, 0, 0};
  const double s = 1.0 / static_cast<double>(geometry.group_elements());
  const double db = kind == NormKind::kCentered ? total.db : 0;
  return {rstd, mean, static_cast<float>(-total.ds * rstd * rstd * rstd * s),
          static_cast<float>(-db * rstd * s)};
}

// scale·dy·γ, rounded once.
HWY_INLINE FloatVec Scaled(FloatTag d, double scale, FloatVec dy, FloatVec gamma) {
  const auto product = [&](DoubleTag dd, DoubleVec g, DoubleVec c)
                           HWY_ATTR { return hn::Mul(hn::Mul(hn::Set(dd, scale), c), g); };
  return InDouble(d, product, dy, gamma).value;
}

// scale·dy, rounded once.
HWY_INLINE FloatVec Scaled(FloatTag d, double scale, FloatVec dy) {
  const auto product = [&](DoubleTag dd, DoubleVec g)
                           HWY_ATTR { return hn::Mul(hn::Set(dd, scale), g); };
  return InDouble(d, product, dy).value;
}

// Mean and rstd of the groups, as a thread reads them.
class MomentReader {
 public:
  MomentReader(const NormGradientCall& call, const StridedTensor& mean, const StridedTensor& rstd)
      : mean_(mean),
        rstd_(rstd),
        fixed_(call.kind == NormKind::kFixed),
        eps_(static_cast<double>(static_cast<float>(call.eps))) {}

  float Mean(int64_t group) const { return mean_.At(group); }
  double Rstd(int64_t group) const {
    const auto given = static_cast<double>(rstd_.At(group));
    return fixed_ ? 1.0 / std::sqrt(given + eps_) : given;
  }

 private:
  const ValueReader mean_;
  const ValueReader rstd_;
  const bool fixed_;
  const double eps_;
};

// The sums of channels from `first` on, rounded once.
inline void StoreSums(const StridedTensor& output, int64_t first, std::span<const double> sums) {
  WithFloatType(output.operand.dtype, [&](auto element) {
    RunWriter<decltype(element)> writer(output, first, Store::kCached);
    auto* out = writer.Next(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) Round(static_cast<float>(sums[i]), out[i]);
  });
}

template <typename T>
class FlatNormGradient {
 public:
  FlatNormGradient(const KernelArgs& args, const NormGradientCall& call,
                   const NormGradientPlan& plan)
      : args_(args),
        call_(call),
        plan_(plan),
        geometry_(plan.geometry),
        dy_(NormInputTensor(args, call.dy)),
        x_(NormInputTensor(args, call.x)),
        mean_(NormInputTensor(args, call.mean)),
        rstd_(NormInputTensor(args, call.rstd)),
        out_(NormOutputTensor(args, call.dx)) {
    if (plan_.wants_input) {
      gamma_ = ScratchAt<float>(args.workspace, plan_.gamma);
      store_ = IsStreamed(call.dx.desc.size_bytes()) ? Store::kStreamed : Store::kCached;
    }
    if (plan_.wants_gamma) gamma_terms_ = ScratchAt<float>(args.workspace, plan_.gamma_terms);
    if (plan_.wants_beta) beta_terms_ = ScratchAt<float>(args.workspace, plan_.beta_terms);
  }

  void Run() {
    if (plan_.wants_input) LoadChannels(args_, call_.gamma, 1.0f, geometry_, gamma_);
    if (geometry_.split) {
      RunSplit();
    } else {
      const int64_t blocks = plan_.group_chunks();
      args_.workers.ParallelFor(plan_.batch_chunks() * blocks, [&](int64_t chunk) {
        RunChunk(chunk / blocks, chunk % blocks * plan_.groups_of_chunk);
      });
    }
    if (plan_.wants_gamma) StoreChannels(call_.dgamma, gamma_terms_);
    if (plan_.wants_beta) StoreChannels(call_.dbeta, beta_terms_);
  }

 private:
  // Where the sums of a run of elements are kept; null where they are not wanted.
  struct Terms {
    float* gamma;
    float* beta;
    float rstd;
  };

  // A thread's view of the data.
  struct Readers {
    explicit Readers(const FlatNormGradient& norm)
        : dy(norm.dy_), x(norm.x_), moments(norm.call_, norm.mean_, norm.rstd_) {}
    RunReader<T> dy;
    RunReader<T> x;
    MomentReader moments;
  };

  // The terms of `count` elements of a batch from `begin` on.
  void ClearTerms(Pace& pace, int64_t begin, int64_t count) {
    for (float* terms : {gamma_terms_, beta_terms_}) {
      if (terms == nullptr) continue;
      for (const auto [from, to] : pace.InBlocks(count))
        std::fill_n(terms + begin + from, to - from, 0.0f);
    }
  }

  Terms TermsAt(int64_t element, double rstd) const {
    return {gamma_terms_ ? gamma_terms_ + element : nullptr,
            beta_terms_ ? beta_terms_ + element : nullptr, static_cast<float>(rstd)};
  }

  void RunChunk(int64_t batch_chunk, int64_t first_group) {
    const int64_t last_group = std::min(geometry_.group, first_group + plan_.groups_of_chunk);
    const int64_t elements = geometry_.group_elements();
    Pace pace(args_.workers);
    ClearTerms(pace, (batch_chunk * geometry_.group + first_group) * elements,
               (last_group - first_group) * elements);
    Readers in(*this);
    const int64_t last = std::min(geometry_.n, (batch_chunk + 1) * plan_.batches_of_chunk);
    for (int64_t n = batch_chunk * plan_.batches_of_chunk; n < last; ++n) {
      RunWriter<T> writer(out_, (n * geometry_.group + first_group) * elements, store_);
      for (int64_t g = first_group; g < last_group; ++g) {
        const int64_t group = n * geometry_.group + g;
        const int64_t terms = (batch_chunk * geometry_.group + g) * elements;
        const float m = in.moments.Mean(group);
        const double r = in.moments.Rstd(group);
        RowSums total;
        ForEachPiece(pace, elements, [&](int64_t i, size_t size) {
          const float* gamma = gamma_ ? gamma_ + g * elements + i : nullptr;
          total.Add(SumPiece(in.dy.Read(group * elements + i, size),
                             in.x.Read(group * elements + i, size), gamma, size, m,
                             TermsAt(terms + i, r)));
        });
        if (!pace.Goes(kStatisticsCost)) return;
        if (!plan_.wants_input) continue;
        const Coefficients k = MakeCoefficients(call_.kind, geometry_, m, r, total);
        ForEachPiece(pace, elements, [&](int64_t i, size_t size) {
          WritePiece(in, group * elements + i, gamma_ + g * elements + i, size, k,
                     writer.Next(size));
        });
      }
    }
  }

  // Few large groups: their pieces are summed side by side, and written so.
  void RunSplit() {
    auto* pieces = ScratchAt<RowSums>(args_.workspace, plan_.pieces);
    auto* coefficients = ScratchAt<Coefficients>(args_.workspace, plan_.coefficients);
    const int64_t of_group = NumPieces(geometry_.group_elements());
    if (plan_.wants_input) {
      ParallelRanges(args_.workers, geometry_.groups() * of_group, UnitsOfChunk(kPiece),
                     [&](int64_t first, int64_t last) { SumPieces(first, last, pieces); });
      ParallelRanges(
          args_.workers, geometry_.groups(), UnitsOfChunk(of_group),
          [&](int64_t first, int64_t last) { SumGroups(first, last, pieces, coefficients); });
    }
    const int64_t of_batch = geometry_.group * of_group;
    args_.workers.ParallelFor(plan_.batch_chunks() * of_batch, [&](int64_t chunk) {
      RunPieces(chunk / of_batch, chunk % of_batch, coefficients);
    });
  }

  // Piece `index` of a batch: where it begins there, and its elements.
  struct Piece {
    int64_t begin;
    size_t count;
  };
  Piece PieceAt(int64_t index) const {
    const int64_t elements = geometry_.group_elements();
    const int64_t i = index % NumPieces(elements) * kPiece;
    return {index / NumPieces(elements) * elements + i,
            static_cast<size_t>(std::min(kPiece, elements - i))};
  }

  void SumPieces(int64_t first, int64_t last, RowSums* pieces) {
    const int64_t of_group = NumPieces(geometry_.group_elements());
    Readers in(*this);
    for (int64_t i = first; i < last; ++i) {
      const int64_t group = i / of_group;
      const Piece piece = PieceAt(i % (geometry_.group * of_group));
      const int64_t begin = group / geometry_.group * geometry_.c * geometry_.hw + piece.begin;
      pieces[i] = SumPiece(in.dy.Read(begin, piece.count), in.x.Read(begin, piece.count),
                           gamma_ + piece.begin, piece.count, in.moments.Mean(group),
                           {nullptr, nullptr, 0});
    }
  }

  void SumGroups(int64_t first, int64_t last, const RowSums* pieces, Coefficients* coefficients) {
    const int64_t of_group = NumPieces(geometry_.group_elements());
    Pace pace(args_.workers);
    Readers in(*this);
    for (int64_t group = first; group < last && pace.Goes(of_group); ++group) {
      RowSums total;
      for (const auto [begin, end] : pace.InBlocks(of_group)) {
        for (int64_t i = begin; i < end; ++i) total.Add(pieces[group * of_group + i]);
      }
      coefficients[group] = MakeCoefficients(call_.kind, geometry_, in.moments.Mean(group),
                                             in.moments.Rstd(group), total);
    }
  }

  void RunPieces(int64_t batch_chunk, int64_t index, const Coefficients* coefficients) {
    const Piece piece = PieceAt(index);
    const int64_t batch_elements = geometry_.c * geometry_.hw;
    const int64_t terms = batch_chunk * batch_elements + piece.begin;
    Pace pace(args_.workers);
    ClearTerms(pace, terms, static_cast<int64_t>(piece.count));
    Readers in(*this);
    const int64_t last = std::min(geometry_.n, (batch_chunk + 1) * plan_.batches_of_chunk);
    for (int64_t n = batch_chunk * plan_.batches_of_chunk; n < last && pace.Goes(kPiece); ++n) {
      const int64_t group = n * geometry_.group + index / NumPieces(geometry_.group_elements());
      const int64_t begin = n * batch_elements + piece.begin;
      if (gamma_terms_ != nullptr || beta_terms_ != nullptr) {
        SumPiece(in.dy.Read(begin, piece.count), in.x.Read(begin, piece.count), nullptr,
                 piece.count, in.moments.Mean(group), TermsAt(terms, in.moments.Rstd(group)));
      }
      if (!plan_.wants_input) continue;
      RunWriter<T> writer(out_, begin, store_);
      WritePiece(in, begin, gamma_ + piece.begin, piece.count, coefficients[group],
                 writer.Next(piece.count));
    }
  }

  // Σ γ·dy·(x − mean) and Σ γ·dy, where gamma is given; adds to the terms.
  static HWY_INLINE RowSums SumPiece(const T* dy, const T* x, const float* gamma, size_t count,
                                     float mean, const Terms& terms) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const FloatVec m = hn::Set(d, mean);
    const FloatVec r = hn::Set(d, terms.rstd);
    FloatVec ds = hn::Zero(d), db = ds;
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const FloatVec g = LoadFloats(d, dy + i);
      const FloatVec v = hn::Sub(LoadFloats(d, x + i), m);
      if (terms.gamma)
        hn::StoreU(hn::MulAdd(hn::Mul(g, r), v, hn::LoadU(d, terms.gamma + i)), d, terms.gamma + i);
      if (terms.beta) hn::StoreU(hn::Add(g, hn::LoadU(d, terms.beta + i)), d, terms.beta + i);
      if (!gamma) continue;
      const FloatVec weighted = hn::Mul(g, hn::LoadU(d, gamma + i));
      ds = hn::MulAdd(weighted, v, ds);
      db = hn::Add(db, weighted);
    }
    if (i < count) {
      const size_t rest = count - i;
      const FloatVec g = LoadFirst(d, dy + i, rest);
      const FloatVec v =
          hn::IfThenElseZero(hn::FirstN(d, rest), hn::Sub(LoadFirst(d, x + i, rest), m));
      if (terms.gamma) {
        StoreFirst(hn::MulAdd(hn::Mul(g, r), v, LoadFirst(d, terms.gamma + i, rest)), d,
                   terms.gamma + i, rest);
      }
      if (terms.beta)
        StoreFirst(hn::Add(g, LoadFirst(d, terms.beta + i, rest)), d, terms.beta + i, rest);
      if (gamma) {
        const FloatVec weighted = hn::Mul(g, LoadFirst(d, gamma + i, rest));
        ds = hn::MulAdd(weighted, v, ds);
        db = hn::Add(db, weighted);
      }
    }
    return {static_cast<double>(hn::GetLane(hn::SumOfLanes(d, ds))),
            static_cast<double>(hn::GetLane(hn::SumOfLanes(d, db)))};
  }

  HWY_INLINE void WritePiece(Readers& in, int64_t begin, const float* gamma, size_t count,
                             const Coefficients& k, T* out) {
    if (call_.kind == NormKind::kFixed)
      return ScalePiece(in.dy.Read(begin, count), gamma, count, k.rstd, out);
    MixPiece(in.dy.Read(begin, count), in.x.Read(begin, count), gamma, count, k, out);
  }

  // What x is does not matter.
  static HWY_INLINE void ScalePiece(const T* dy, const float* gamma, size_t count, double rstd,
                                    T* out) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const auto value = [&](FloatVec g, FloatVec c) HWY_ATTR { return Scaled(d, rstd, g, c); };
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
      StoreFloats(value(LoadFloats(d, dy + i), hn::LoadU(d, gamma + i)), d, out + i);
    if (i == count) return;
    const size_t rest = count - i;
    StoreFirst(value(LoadFirst(d, dy + i, rest), LoadFirst(d, gamma + i, rest)), d, out + i, rest);
  }

  static HWY_INLINE void MixPiece(const T* dy, const T* x, const float* gamma, size_t count,
                                  const Coefficients& k, T* out) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const auto value = [&](FloatVec g, FloatVec v, FloatVec c) HWY_ATTR {
      const FloatVec c1 = hn::Mul(hn::Set(d, static_cast<float>(k.rstd)), c);
      return hn::MulAdd(
          c1, g, hn::MulAdd(hn::Set(d, k.c2), hn::Sub(v, hn::Set(d, k.mean)), hn::Set(d, k.c3)));
    };
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      StoreFloats(value(LoadFloats(d, dy + i), LoadFloats(d, x + i), hn::LoadU(d, gamma + i)), d,
                  out + i);
    }
    if (i == count) return;
    const size_t rest = count - i;
    StoreFirst(
        value(LoadFirst(d, dy + i, rest), LoadFirst(d, x + i, rest), LoadFirst(d, gamma + i, rest)),
        d, out + i, rest);
  }

  // output[c] = Σ terms[chunk][c][i] over the chunks of batches and HxW
  void StoreChannels(const NormTensor& output, const float* terms) {
    const StridedTensor tensor = NormOutputTensor(args_, output);
    constexpr int64_t kBlock = 256;
    ParallelRanges(args_.workers, geometry_.c, kBlock, [&](int64_t first, int64_t last) {
      Pace pace(args_.workers);
      double sums[kBlock] = {};
      const auto count = static_cast<size_t>(last - first);
      const int64_t elements = (last - first) * geometry_.hw;
      for (int64_t chunk = 0; chunk < plan_.batch_chunks() && pace.Goes(elements); ++chunk) {
        const float* term = terms + (chunk * geometry_.c + first) * geometry_.hw;
        for (size_t i = 0; i < count; ++i) {
          for (int64_t k = 0; k < geometry_.hw; ++k) sums[i] += static_cast<double>(*term++);
        }
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
  float* gamma_ = nullptr;
  float* gamma_terms_ = nullptr;
  float* beta_terms_ = nullptr;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
