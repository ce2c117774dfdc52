// The single element that a mean or a sum leaves.
#pragma once

#include "core/backends/cpu/elementwise.h"
#include "core/op/infer_checks.h"

namespace opserve::cpu {

// Workspace of a reduction: one partial sum a chunk. None for `reduction` none.
size_t ReductionWorkspaceBytes(const OpCall& call, Reduction reduction);

// `args.workspace` as the partial sums of `call`.
std::span<double> PartialSums(const KernelArgs& args, const ElementwiseCall& call);

// sum (or sum / count for kMean) as output 0: rounded to float, then to the output's dtype.
void StoreReduced(const KernelArgs& args, Reduction reduction, double sum, int64_t count);

// 1/n in float for kMean, n the elements of output 0; else 1.
float GradientFactor(const OpCall& call, Reduction reduction);

}  // namespace opserve::cpu
