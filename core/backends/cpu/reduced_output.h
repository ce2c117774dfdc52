// The single element that a mean or a sum leaves.
#pragma once

#include "core/backends/cpu/elementwise.h"
#include "core/op/infer_checks.h"

namespace opserve::cpu {

// Workspace of a loss, whose attribute 0 is its reduction: one partial sum a chunk. None for none.
size_t LossWorkspace(const OpCall& call);

// `args.workspace` as the partial sums of `call`.
std::span<double> PartialSums(const KernelArgs& args, const ElementwiseCall& call);

// sum, or for means sum over what they divide by, as output 0: rounded to float, then to the
// output's dtype.
void StoreReduced(const KernelArgs& args, Reduction reduction, double sum);

// Of the gradient of a loss, in float: 1/n for kMean, n the elements of output 0, 1/n for
// kBatchMean, n its first extent; else 1.
float GradientFactor(const OpCall& call, Reduction reduction);

}  // namespace opserve::cpu
