// Whether what a call writes is apart from what else it has in memory. Of the engine only.
#pragma once

#include "core/op/op_call.h"

namespace opserve {

// Where a tensor's storage lies. Two spaces have nothing in common.
struct StoragePlace {
  const void* space = nullptr;  // nullptr: it has no memory of a caller's
  int64_t start_bytes = 0;      // in the space
};

// Where the tensors of a planned call lie, in schema order; nowhere until it is said. The call must
// outlive it.
struct CallPlaces {
  explicit CallPlaces(const OpCall& of)
      : call(of), inputs(of.inputs.size()), outputs(of.outputs.size()) {}

  // 161002 naming `name` when the tensor may share bytes with one of the call's; with the input in
  // whose place it may be (InputInPlaceOf) only where the layouts differ.
  absl::Status CheckApart(std::string_view name, const TensorDesc& desc,
                          const StoragePlace& place) const;

  const OpCall& call;
  absl::InlinedVector<StoragePlace, 8> inputs;
  absl::InlinedVector<StoragePlace, 4> outputs;
};

}  // namespace opserve
