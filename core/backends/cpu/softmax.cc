// Softmax, LogSoftmax and their gradients.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/softmax.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

struct ShareOfSum {
  ExpAbove exponential;
  float sum;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 1>& in) const {
    return hn::Div(exponential(d, in), hn::Set(d, sum));
  }
};

struct SoftmaxRows {
  using Part = SoftmaxPart;

  template <typename T>
  Part Of(const Pointers<1, T>& in, size_t count) const {
    return ExponentialsOf(in, count);
  }
  static void Add(Part& sum, const Part& next) { Part::Add(sum, next); }
  template <typename T>
  void Write(const Pointers<1, T>& in, T* out, size_t count, RowPlace /*place*/,
             const Part& part) const {
    const ExpAbove exponential = {ShiftOf(part.largest)};
    MapRun<1, T>(ShareOfSum{exponential, static_cast<float>(part.sum)}, in, out, count);
  }

  // Makes each exponential once, and keeps it.
  template <typename T>
  void Row(const Pointers<1, T>& in, T* out, size_t count, int64_t /*row*/) const {
    alignas(64) float kept[kTile];
    const double sum = Exponentials(in[0], count, {ShiftOf(LargestOf(in[0], count))}, kept);
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const FloatVec divisor = hn::Set(d, static_cast<float>(sum));
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
      StoreFloats(hn::Div(hn::Load(d, kept + i), divisor), d, out + i);
    if (i < count) StoreFirst(hn::Div(hn::Load(d, kept + i), divisor), d, out + i, count - i);
  }

 private:
  // Into `kept`, whole vectors; their sum.
  template <typename T>
  static HWY_INLINE double Exponentials(const T* x, size_t count, const ExpAbove& exponential,
                                        float* kept) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    DoubleSum sum;
    const auto keep = [&](FloatVec v, size_t i) HWY_ATTR {
      const FloatVec e = Apply(exponential, d, std::array<FloatVec, 1>{v});
      hn::Store(e, d, kept + i);
      return e;
    };
    size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const FloatVec first = keep(LoadFloats(d, x + i), i);
      sum.Add(d, hn::Add(first, keep(LoadFloats(d, x + i + lanes), i + lanes)));
    }
    for (; i + lanes <= count; i += lanes) sum.Add(d, keep(LoadFloats(d, x + i), i));
    if (i < count) {
      const FloatVec last = keep(LoadFirst(d, x + i, count - i), i);
      sum.Add(d, hn::IfThenElseZero(hn::FirstN(d, count - i), last));
    }
    return sum.Total();
  }
};

struct GradientTimesShare {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[0], in[1]);
  }
};

struct ShareTimesRest {
  float sum;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::Mul(in[1], hn::Sub(in[0], hn::Set(d, sum)));
  }
};

struct SoftmaxGradientRows {
  using Part = SumPart;

  template <typename T>
  Part Of(const Pointers<2, T>& in, size_t count) const {
    return {SumRun<2, T>(GradientTimesShare(), in, count)};
  }
  static void Add(Part& sum, const Part& next) { Part::Add(sum, next); }
  template <typename T>
  void Write(const Pointers<2, T>& in, T* out, size_t count, RowPlace /*place*/,
             const Part& part) const {
    MapRun<2, T>(ShareTimesRest{static_cast<float>(part.sum)}, in, out, count);
  }
  template <typename T>
  void Row(const Pointers<2, T>& in, T* out, size_t count, int64_t row) const {
    Write(in, out, count, {row, 0}, Of(in, count));
  }
};

struct FirstOfTwo {
  HWY_INLINE FloatVec operator()(FloatTag /*d*/, const std::array<FloatVec, 1>& in) const {
    return in[0];
  }
};

struct GradientLessShare {
  float sum;

  HWY_INLINE FloatVec operator()(FloatTag d, const std::array<FloatVec, 2>& in) const {
    return hn::NegMulAdd(Exp(d, in[1]), hn::Set(d, sum), in[0]);
  }
};

struct LogSoftmaxGradientRows {
  using Part = SumPart;

  template <typename T>
  Part Of(const Pointers<2, T>& in, size_t count) const {
    return {SumRun<1, T>(FirstOfTwo(), {in[0]}, count)};
  }
  static void Add(Part& sum, const Part& next) { Part::Add(sum, next); }
  template <typename T>
  void Write(const Pointers<2, T>& in, T* out, size_t count, RowPlace /*place*/,
             const Part& part) const {
    MapRun<2, T>(GradientLessShare{static_cast<float>(part.sum)}, in, out, count);
  }
  template <typename T>
  void Row(const Pointers<2, T>& in, T* out, size_t count, int64_t row) const {
    Write(in, out, count, {row, 0}, Of(in, count));
  }
};

void Softmax(const KernelArgs& args) { RunRows<1, SoftmaxRows>(args); }
void SoftmaxBackward(const KernelArgs& args) { RunRows<2, SoftmaxGradientRows>(args); }
void LogSoftmax(const KernelArgs& args) { RunRows<1, LogSoftmaxRows>(args); }
void LogSoftmaxBackward(const KernelArgs& args) { RunRows<2, LogSoftmaxGradientRows>(args); }

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

// A part is at most a float and a double.
size_t SoftmaxWorkspace(const OpCall& call) {
  const TensorDesc& input = call.input(0);
  return RowsWorkspace(MakeRows(RowsAlong(input, DimensionOf(call, 0, input.shape.size()))),
                       2 * sizeof(double));
}

}  // namespace

OPSERVE_CPU_KERNEL(Softmax, SoftmaxWorkspace);
OPSERVE_CPU_KERNEL(SoftmaxBackward, SoftmaxWorkspace);
OPSERVE_CPU_KERNEL(LogSoftmax, SoftmaxWorkspace);
OPSERVE_CPU_KERNEL(LogSoftmaxBackward, SoftmaxWorkspace);

}  // namespace opserve::cpu
#endif
