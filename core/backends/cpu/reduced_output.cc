#include "core/backends/cpu/reduced_output.h"

#include "core/tensor/element.h"

namespace opserve::cpu {

size_t ReductionWorkspaceBytes(const OpCall& call, Reduction reduction) {
  if (reduction == Reduction::kNone) return 0;
  Dims shape;
  for (const std::optional<TensorDesc>& input : call.inputs)
    shape = *BroadcastShapes(shape, input->shape);
  return static_cast<size_t>((*NumElements(shape) + kChunk - 1) / kChunk) * sizeof(double);
}

std::span<double> PartialSums(const KernelArgs& args, const ElementwiseCall& call) {
  return {reinterpret_cast<double*>(args.workspace.data()), static_cast<size_t>(NumChunks(call))};
}

void StoreReduced(const KernelArgs& args, Reduction reduction, double sum, int64_t count) {
  const TensorDesc& desc = args.call.output(0).desc;
  const double value = reduction == Reduction::kMean ? sum / static_cast<double>(count) : sum;
  std::byte* out =
      args.outputs[0] + static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
  // A floating dtype holds every number.
  StoreElement(desc.dtype, static_cast<double>(static_cast<float>(value)), out).IgnoreError();
}

float GradientFactor(const OpCall& call, Reduction reduction) {
  if (reduction != Reduction::kMean) return 1.0f;
  return static_cast<float>(1.0 / static_cast<double>(call.output(0).desc.num_elements()));
}

}  // namespace opserve::cpu
