// What holds of a request from which that was taken which says where tensors are.
#pragma once

#include <string_view>

#include "server/open_inference/infer_request.h"
#include "server/open_inference/shared_tensors.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {

// `call` as SplitInferHeader leaves it.
inline void CheckSeparated(std::string_view call) {
  const absl::StatusOr<server::SharedTensors> parts = server::SeparateShared(call);
  if (!parts.ok()) return RequireDetail(parts.status());
  Require(parts->inputs <= server::kMaxInferTensors, "inputs are bounded");
  Require(parts->shared_inputs.size() <= parts->inputs, "shared inputs are inputs");
  for (const server::SharedTensor& tensor : parts->shared_inputs)
    Require(tensor.index < parts->inputs, "a shared input is one of them");
  const absl::StatusOr<server::SharedTensors> again = server::SeparateShared(parts->call);
  Require(again.ok() && again->call == parts->call, "what is left is as it is");
  Require(again->shared_inputs.empty() && again->shared_outputs.empty(),
          "nothing is left of where tensors are");
}

}  // namespace opserve::fuzz
