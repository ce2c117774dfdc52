// Outputs that C functions write over an input of theirs: aclnnBatchNorm changes running_mean,
// where the operator has running_mean and running_mean_out.
#pragma once

#include <string_view>

#include "core/op/operator.h"

namespace opserve {

// The input that the C function changes to what this output is: the one that is called as the
// output without "_out", if the output is optional; else -1. Such outputs, of rank 1 and of the
// input's dtype and shape, stand behind all others and are no parameters of the C function. The
// memory of one may be that of its input, in the same layout.
inline int InputInPlaceOf(const Operator& op, int output) {
  constexpr std::string_view kOut = "_out";
  const TensorParam& param = op.outputs[static_cast<size_t>(output)];
  if (param.presence != Presence::kOptional || !param.name.ends_with(kOut)) return -1;
  return op.FindInput(param.name.substr(0, param.name.size() - kOut.size()));
}

// The output that is written over this input; -1 = none, as of input -1.
inline int OutputInPlaceOf(const Operator& op, int input) {
  if (input < 0) return -1;
  for (int i = 0; i < static_cast<int>(op.outputs.size()); ++i) {
    if (InputInPlaceOf(op, i) == input) return i;
  }
  return -1;
}

}  // namespace opserve
