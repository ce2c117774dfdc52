// MaxPool2dWithIndicesBackward: each gradient goes to the element that its index names. A plane is
// made by one thread, in floats, in the order of the outputs.
//
// The indices are a client's. All are checked before anything is written, and each again where it
// is used, since they may have changed: one that is in no plane then adds nothing.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/max_pool2d_with_indices_backward.cc"
#include "hwy/foreach_target.h"

#include "core/backends/cpu/max_pool_plan.h"
#include "core/backends/cpu/planes-inl.h"
#include "core/backends/cpu/read_once.h"
#include "core/backends/cpu/scratch.h"
#include "core/base/status_macros.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

template <typename T, typename Index>
class MaxPoolGradients {
 public:
  MaxPoolGradients(const KernelArgs& args, const MaxPoolGradientPlan& plan)
      : args_(args),
        plan_(plan),
        gradients_(InputTensor(args, 0)),
        indices_(InputTensor(args, 2)),
        output_(OutputTensor(args, 0)) {}

  void Run() {
    args_.workers.ParallelFor(plan_.chunks, [&](int64_t chunk) {
      Pace pace(args_.workers);
      float* const scratch =
          ScratchAt<float>(args_.workspace, plan_.planes) + chunk * plan_.stride();
      const int64_t end = plan_.FirstPlane(chunk + 1);
      Planes planes(*this, plan_.FirstPlane(chunk));
      for (int64_t i = plan_.FirstPlane(chunk); i < end && pace.Goes(kPlaneRowCost); ++i)
        MakePlane(i, scratch, planes, pace);
    });
  }

 private:
  struct Planes {
    Planes(const MaxPoolGradients& call, int64_t plane)
        : gradients(call.gradients_),
          indices(call.indices_),
          writer(call.output_, plane * call.plan_.in.area(), Store::kCached) {}
    FloatReader<T> gradients;
    RunReader<Index> indices;
    RunWriter<T> writer;
  };

  // The plane of the output itself, where it is one of floats; otherwise nullptr.
  float* PlaneInPlace(int64_t i) const {
    if (!std::is_same_v<T, float> || !output_.linear()) return nullptr;
    return reinterpret_cast<float*>(output_.operand.output) + i * plan_.in.area();
  }

  void MakePlane(int64_t i, float* scratch, Planes& planes, Pace& pace) const {
    const int64_t area = plan_.in.area();
    float* const in_place = PlaneInPlace(i);
    float* const plane = in_place == nullptr ? scratch : in_place;
    ForEachPiece(pace, area,
                 [&](int64_t begin, size_t count) { std::fill_n(plane + begin, count, 0.0F); });
    const int64_t first = i * plan_.out.area();
    ForEachPiece(pace, plan_.out.area(), [&](int64_t begin, size_t count) {
      const float* gradients = planes.gradients.Read(first + begin, static_cast<int64_t>(count));
      const Index* indices = planes.indices.Read(first + begin, count);
      for (size_t k = 0; k < count; ++k) {
        const auto index = static_cast<int64_t>(ReadOnce(indices + k));
        if (index >= 0 && index < area) plane[index] += gradients[k];
      }
    });
    if (in_place != nullptr) return;
    ForEachPiece(pace, area, [&](int64_t begin, size_t count) {
      StoreRun(plane + begin, static_cast<int64_t>(count), planes.writer.Next(count));
    });
  }

  const KernelArgs& args_;
  const MaxPoolGradientPlan& plan_;
  const StridedTensor gradients_;
  const StridedTensor indices_;
  const StridedTensor output_;
};

void MaxPool2dWithIndicesBackward(const KernelArgs& args, const MaxPoolGradientPlan& plan) {
  const DType indices = args.call.input(2).dtype;
  WithFloatType(args.call.input(0).dtype, [&](auto element) {
    using T = decltype(element);
    if (indices == DType::kInt64) return MaxPoolGradients<T, int64_t>(args, plan).Run();
    MaxPoolGradients<T, int32_t>(args, plan).Run();
  });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(MaxPool2dWithIndicesBackward);

namespace {

absl::Status ExecuteMaxPoolGradient(const KernelArgs& args) {
  const MaxPoolGradientPlan plan(args.call);
  OPSERVE_RETURN_IF_ERROR(CheckPoolIndices(args, plan));
  HWY_DYNAMIC_DISPATCH(MaxPool2dWithIndicesBackward)(args, plan);
  return absl::OkStatus();
}

size_t MaxPoolGradientWorkspace(const OpCall& call) { return MaxPoolGradientPlan(call).bytes; }

}  // namespace

extern constinit const Kernel kMaxPool2dWithIndicesBackwardKernel = {MaxPoolGradientWorkspace,
                                                                     ExecuteMaxPoolGradient};

}  // namespace opserve::cpu
#endif
