// The tensors of a call that are in shared memory (Tensor.shared).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/engine/engine.h"
#include "opserve/v1/types.pb.h"
#include "server/shared_memory/region_table.h"
#include "server/wire/output_codec.h"

namespace opserve::server {

// Where they lie. Movable: moving keeps every address.
struct SharedStorages {
  std::vector<Fragments> inputs;              // in the order of Call.inputs
  std::vector<std::span<std::byte>> outputs;  // in the order of Call.outputs
  // What keeps them: to be held until the call has ended.
  std::vector<std::shared_ptr<const SharedRegion>> regions;
};

// Of a call that DecodeSharingCall accepted. `regions` may be nullptr: there is no shared memory.
// Errors name the operator and the tensor: SHARED_MEMORY_DISABLED; 161002 for an unknown region, a
// view that is not inside it or not aligned to its elements (of an output without a dtype, the
// engine checks that).
absl::StatusOr<SharedStorages> DecodeSharedStorages(const v1::Call& call,
                                                    const RegionTable* regions);

// Puts them behind the storages that the call has already.
void AddSharedStorages(const SharedStorages& storages, OneShot& shot);

// Describes the outputs that `call` has in shared memory as being there. `outputs` are those of the
// planned call, from EncodeOutputs.
void EncodeSharedOutputs(const v1::Call& call, const OpCall& planned, TensorList& outputs);

}  // namespace opserve::server
