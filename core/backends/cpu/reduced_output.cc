#include "core/backends/cpu/reduced_output.h"

#include "core/tensor/element.h"

namespace opserve::cpu {

size_t LossWorkspace(const OpCall& call) {
  if (ReductionOf(call, 0) == Reduction::kNone) return 0;
  return static_cast<size_t>((*NumElements(InputsShape(call)) + kChunk - 1) / kChunk) *
         sizeof(double);
}

std::span<double> PartialSums(const KernelArgs& args, const ElementwiseCall& call) {
  return {reinterpret_cast<double*>(args.workspace.data()), static_cast<size_t>(NumChunks(call))};
}

namespace {

// What a mean of elements in `shape` divides by.
double DivisorOf(Reduction reduction, std::span<const int64_t> shape) {
  if (reduction == Reduction::kMean) return static_cast<double>(NumElements(shape).value_or(0));
  if (reduction == Reduction::kBatchMean && !shape.empty()) return static_cast<double>(shape[0]);
  return 1;
}

}  // namespace

void StoreReduced(const KernelArgs& args, Reduction reduction, double sum) {
  const TensorDesc& desc = args.call.output(0).desc;
  const double value = sum / DivisorOf(reduction, InputsShape(args.call));
  std::byte* out =
      args.outputs[0] + static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
  // A floating dtype holds every number.
  StoreElement(desc.dtype, static_cast<double>(static_cast<float>(value)), out).IgnoreError();
}

float GradientFactor(const OpCall& call, Reduction reduction) {
  return static_cast<float>(1.0 / DivisorOf(reduction, call.output(0).desc.shape));
}

}  // namespace opserve::cpu
