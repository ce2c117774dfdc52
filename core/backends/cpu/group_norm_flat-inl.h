// GroupNormBackward where rows are short: a batch is one run of elements, with gamma held once for
// each. Sums for grad_gamma and grad_beta are kept for each element of a batch, over some batches
// as floats, over all and over HxW as doubles. Included once a SIMD target.

#include "core/backends/cpu/group_norm_plan.h"

#if defined(OPSERVE_CPU_GROUP_NORM_FLAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPSERVE_CPU_GROUP_NORM_FLAT_INL_H_
#undef OPSERVE_CPU_GROUP_NORM_FLAT_INL_H_
#else
#define OPSERVE_CPU_GROUP_NORM_FLAT_INL_H_
#endif

#include "core/backends/cpu/group_norm-inl.h"

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
  float mean;
  float rstd;
  float c2;
  float c3;
};

// Of the sums of a group, weighted by gamma.
inline Coefficients MakeCoefficients(const GroupGeometry& geometry, float mean, float rstd,
                                     const RowSums& total) {
  const auto r = static_cast<double>(rstd);
  const double s = 1.0 / static_cast<double>(geometry.group_elements());
  return {mean, rstd, static_cast<float>(-total.ds * r * r * r * s),
          static_cast<float>(-total.db * r * s)};
}

template <typename T>
class FlatGroupNormGradient {
 public:
  FlatGroupNormGradient(const KernelArgs& args, const GroupNormBackwardPlan& plan)
      : args_(args),
        plan_(plan),
        geometry_(plan.geometry),
        dy_(InputTensor(args, 0)),
        x_(InputTensor(args, 1)),
        mean_(InputTensor(args, 2)),
        rstd_(InputTensor(args, 3)) {
    if (plan_.wants_input) {
      out_ = OutputTensor(args, 0);
      gamma_ = ScratchAt<float>(args.workspace, plan_.gamma);
      store_ =
          IsStreamed(args.call.output(0).desc.size_bytes()) ? Store::kStreamed : Store::kCached;
    }
    if (plan_.wants_gamma) gamma_terms_ = ScratchAt<float>(args.workspace, plan_.gamma_terms);
    if (plan_.wants_beta) beta_terms_ = ScratchAt<float>(args.workspace, plan_.beta_terms);
  }

  void Run() {
    if (plan_.wants_input) LoadChannels<T>(args_, 4, 1.0f, geometry_, gamma_);
    const int64_t blocks = (geometry_.group + plan_.groups_of_chunk - 1) / plan_.groups_of_chunk;
    args_.workers.ParallelFor(plan_.batch_chunks() * blocks, [&](int64_t chunk) {
      RunChunk(chunk / blocks, chunk % blocks * plan_.groups_of_chunk);
    });
    if (plan_.wants_gamma) StoreChannels(1, gamma_terms_);
    if (plan_.wants_beta) StoreChannels(2, beta_terms_);
  }

 private:
  // Where the sums of a run of elements are kept; null where they are not wanted.
  struct Terms {
    float* gamma;
    float* beta;
    float rstd;
  };

  void RunChunk(int64_t batch_chunk, int64_t first_group) {
    const int64_t last_group = std::min(geometry_.group, first_group + plan_.groups_of_chunk);
    const int64_t elements = geometry_.group_elements();
    const int64_t begin = (batch_chunk * geometry_.group + first_group) * elements;
    const int64_t count = (last_group - first_group) * elements;
    Pace pace(args_.workers);
    for (float* terms : {gamma_terms_, beta_terms_}) {
      if (terms == nullptr) continue;
      for (const auto [from, to] : pace.InBlocks(count))
        std::fill_n(terms + begin + from, to - from, 0.0f);
    }
    RunReader<T> dy(dy_), x(x_), mean(mean_), rstd(rstd_);
    const int64_t last = std::min(geometry_.n, (batch_chunk + 1) * plan_.batches_of_chunk);
    for (int64_t n = batch_chunk * plan_.batches_of_chunk; n < last; ++n) {
      RunWriter<T> writer(out_, (n * geometry_.group + first_group) * elements, store_);
      for (int64_t g = first_group; g < last_group; ++g) {
        const int64_t group = n * geometry_.group + g;
        const int64_t terms = (batch_chunk * geometry_.group + g) * elements;
        const float m = mean.At(group);
        const float r = rstd.At(group);
        RowSums total;
        ForEachPiece(pace, elements, [&](int64_t i, size_t size) {
          const Terms piece = {gamma_terms_ ? gamma_terms_ + terms + i : nullptr,
                               beta_terms_ ? beta_terms_ + terms + i : nullptr, r};
          const float* gamma = gamma_ ? gamma_ + g * elements + i : nullptr;
          total.Add(SumPiece(dy.Read(group * elements + i, size),
                             x.Read(group * elements + i, size), gamma, size, m, piece));
        });
        if (!pace.Goes(kStatisticsCost)) return;
        if (!plan_.wants_input) continue;
        const Coefficients k = MakeCoefficients(geometry_, m, r, total);
        ForEachPiece(pace, elements, [&](int64_t i, size_t size) {
          WritePiece(dy.Read(group * elements + i, size), x.Read(group * elements + i, size),
                     gamma_ + g * elements + i, size, k, writer.Next(size));
        });
      }
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

  static HWY_INLINE void WritePiece(const T* dy, const T* x, const float* gamma, size_t count,
                                    const Coefficients& k, T* out) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const auto value = [&](FloatVec g, FloatVec v, FloatVec c) HWY_ATTR {
      const FloatVec c1 = hn::Mul(hn::Set(d, k.rstd), c);
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
  void StoreChannels(int output, const float* terms) {
    const StridedTensor tensor = OutputTensor(args_, output);
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
      if (pace.stopped()) return;
      RunWriter<T> writer(tensor, first, Store::kCached);
      T* out = writer.Next(count);
      for (size_t i = 0; i < count; ++i) Round(static_cast<float>(sums[i]), out[i]);
    });
  }

  const KernelArgs& args_;
  const GroupNormBackwardPlan& plan_;
  const GroupGeometry& geometry_;
  const StridedTensor dy_;
  const StridedTensor x_;
  const StridedTensor mean_;
  const StridedTensor rstd_;
  StridedTensor out_;
  Store store_ = Store::kCached;
  float* gamma_ = nullptr;
  float* gamma_terms_ = nullptr;
  float* beta_terms_ = nullptr;
};

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
