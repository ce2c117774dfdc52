// Memory of a context that callers give to the tensors of a call.
#pragma once

#include <vector>

#include "core/device/context.h"
#include "core/engine/plan/plan.h"

namespace opserve {

// Memory of a buffer from an offset on, to the buffer's end.
struct StorageView {
  std::shared_ptr<DeviceBuffer> buffer;  // null = none
  int64_t offset_bytes = 0;
};

// For each tensor in schema order; none for one that is not given, not wanted, or made by the call.
struct CallViews {
  std::vector<StorageView> inputs;
  std::vector<StorageView> outputs;
};

// 161001 for a tensor without storage; 161002 naming the tensor for a buffer of another context, a
// view that reaches beyond its buffer or is not aligned to its elements, and an output that
// overlaps an input or another output.
absl::Status CheckViews(const Plan& plan, const Context& context, const CallViews& views);

// 161001 naming `workspace` without a buffer where bytes are due, 161002 when it is another
// context's, too small, not aligned to 64 bytes, or overlaps a tensor. The views were checked.
absl::Status CheckWorkspace(const Plan& plan, const Context& context, const CallViews& views,
                            const StorageView& workspace);

}  // namespace opserve
