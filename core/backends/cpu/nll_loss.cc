// NLLLoss: −w[t] · x[t] of each sample, t its class. NLLLossBackward: −w[t] · (g · k) at t, 0 at
// all other classes.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/nll_loss.cc"
#include "hwy/foreach_target.h"

#include <algorithm>

#include "core/backends/cpu/class_samples-inl.h"
#include "core/base/status_macros.h"
#include "core/op/infer_checks.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T>
void StoreLosses(const KernelArgs& args, const ClassTargets& targets) {
  const ClassSamples<T> samples(args, 0);
  const StridedTensor out = OutputTensor(args, 0);
  ParallelRanges(args.workers, targets.count(), kChunk, [&](int64_t first, int64_t last) {
    RunWriter<T> writer(out, first, Store::kCached);
    samples.ForEach(targets, first, last, [&](int64_t /*i*/, int64_t of_class, int64_t at) {
      const float loss = of_class < 0 ? 0.0f : -samples.weight(of_class) * samples.At(at);
      Round(loss, *writer.Next(1));
    });
  });
}

template <typename T>
ClassSums SumLosses(const KernelArgs& args, const ClassTargets& targets) {
  const ClassSamples<T> samples(args, 0);
  return SumSamples(
      args.workers, args.workspace, targets.count(), kChunk, [&](int64_t first, int64_t last) {
        ClassSums sums;
        samples.ForEach(targets, first, last, [&](int64_t /*i*/, int64_t of_class, int64_t at) {
          if (of_class < 0) return;
          const auto weight = static_cast<double>(samples.weight(of_class));
          sums.loss -= weight * static_cast<double>(samples.At(at));
          sums.weight += weight;
        });
        return sums;
      });
}

template <typename T>
void RunNllLoss(const KernelArgs& args, const ClassTargets& targets) {
  const Reduction reduction = ReductionOf(args.call, 0);
  if (reduction == Reduction::kNone) {
    StoreLosses<T>(args, targets);
    return StoreNumber<T>(args, 1, 0);
  }
  const ClassSums sums = SumLosses<T>(args, targets);
  if (args.workers.stopped()) return;
  StoreNumber<T>(args, 0, reduction == Reduction::kMean ? sums.loss / sums.weight : sums.loss);
  StoreNumber<T>(args, 1, sums.weight);
}

// The gradient that comes in for each sample, divided by the total weight of a mean.
template <typename T>
class NllIncoming {
 public:
  explicit NllIncoming(const KernelArgs& args)
      : each_(ReductionOf(args.call, 0) == Reduction::kNone), tensor_(InputTensor(args, 0)) {
    if (each_) return;
    one_ = NumberAt<T>(args, 0);
    if (ReductionOf(args.call, 0) == Reduction::kMean) one_ /= NumberAt<T>(args, 4);
  }

  bool each() const { return each_; }
  float one() const { return one_; }
  const StridedTensor& tensor() const { return tensor_; }

 private:
  const bool each_;
  const StridedTensor tensor_;
  float one_ = 0;
};

template <typename T>
void FillZeros(const KernelArgs& args) {
  const StridedTensor out = OutputTensor(args, 0);
  const TensorDesc& desc = args.call.output(0).desc;
  const Store store = StoreOf(desc);
  ParallelRanges(args.workers, desc.num_elements(), kChunk, [&](int64_t first, int64_t last) {
    RunWriter<T> writer(out, first, store);
    for (int64_t i = first; i < last; i += kPiece) {
      const auto count = static_cast<size_t>(std::min(kPiece, last - i));
      std::fill_n(writer.Next(count), count, T());
    }
  });
}

template <typename T>
void RunNllGradient(const KernelArgs& args, const ClassTargets& targets) {
  FillZeros<T>(args);
  const TensorDesc& desc = args.call.output(0).desc;
  auto* const out = reinterpret_cast<T*>(args.outputs[0]);
  const ClassSamples<T> samples(args, 1, desc, out);
  const NllIncoming<T> incoming(args);
  ParallelRanges(args.workers, targets.count(), kChunk, [&](int64_t first, int64_t last) {
    RunReader<T> reader(incoming.tensor());
    const T* tile = nullptr;
    samples.ForEach(targets, first, last, [&](int64_t i, int64_t of_class, int64_t at) {
      const int64_t in_tile = (i - first) % kPiece;
      if (incoming.each() && in_tile == 0)
        tile = reader.Read(i, static_cast<size_t>(std::min(kPiece, last - i)));
      if (of_class < 0) return;
      const float gradient = incoming.each() ? ToFloat(tile[in_tile]) : incoming.one();
      Round(-samples.weight(of_class) * gradient, out[at]);
    });
  });
}

void NllLossOf(const KernelArgs& args, const ClassTargets& targets) {
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { RunNllLoss<decltype(element)>(args, targets); });
}

void NllGradientOf(const KernelArgs& args, const ClassTargets& targets) {
  WithFloatType(args.call.input(1).dtype,
                [&](auto element) { RunNllGradient<decltype(element)>(args, targets); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(NllLossOf);
HWY_EXPORT(NllGradientOf);

namespace {

size_t NllWorkspace(const OpCall& call) {
  if (ReductionOf(call, 0) == Reduction::kNone) return 0;
  return SampleSumsBytes(call.input(1).num_elements(), kChunk);
}

ClassTargets TargetsOf(const KernelArgs& args, int self) {
  const Dims& shape = args.call.input(self).shape;
  return {args, self + 1, shape.size() == 1 ? shape[0] : shape[1], args.call.attribute<int64_t>(1)};
}

absl::Status ExecuteNllLoss(const KernelArgs& args) {
  const ClassTargets targets = TargetsOf(args, 0);
  OPSERVE_RETURN_IF_ERROR(targets.Check());
  HWY_DYNAMIC_DISPATCH(NllLossOf)(args, targets);
  return absl::OkStatus();
}

absl::Status ExecuteNllGradient(const KernelArgs& args) {
  const ClassTargets targets = TargetsOf(args, 1);
  OPSERVE_RETURN_IF_ERROR(targets.Check());
  HWY_DYNAMIC_DISPATCH(NllGradientOf)(args, targets);
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kNLLLossKernel = {NllWorkspace, ExecuteNllLoss};
extern constinit const Kernel kNLLLossBackwardKernel = {NoWorkspace, ExecuteNllGradient};
extern constinit const Kernel kNLLLoss2dKernel = {NllWorkspace, ExecuteNllLoss};
extern constinit const Kernel kNLLLoss2dBackwardKernel = {NoWorkspace, ExecuteNllGradient};

}  // namespace opserve::cpu
#endif
