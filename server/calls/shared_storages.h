// The tensors of a call that are in shared memory (Tensor.shared).
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/engine/engine.h"
#include "opserve/v1/types.pb.h"
#include "server/codec/output_codec.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

// Keeps the regions mapped.
using HeldRegions = std::vector<std::shared_ptr<const SharedRegion>>;

// Appends the shared inputs to the storages of `shot`, and sets where its shared outputs go. `held`
// must be kept until the call has ended. `call` is one that DecodeCall accepted.
// `regions` may be nullptr: there is no shared memory. Errors name the operator and the tensor:
// SHARED_MEMORY_DISABLED; 161002 for an unknown region, a view that is not inside it or not aligned
// to its elements (of an output without a dtype, the engine checks that).
absl::Status AddSharedStorages(const v1::Call& call, const RegionTable* regions, OneShot& shot,
                               HeldRegions& held);

// Describes the outputs that `call` has in shared memory as being there. `outputs` are those of the
// planned call, from EncodeOutputs.
void EncodeSharedOutputs(const v1::Call& call, const OpCall& planned, TensorList& outputs);

}  // namespace opserve::server
