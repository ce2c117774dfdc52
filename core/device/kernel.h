// How an operator runs on a backend: re-entrant functions that keep no state between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/op/op_call.h"
#include "core/workers/worker_pool.h"

namespace opserve {

// Elements of a tensor, in row-major order.
struct ElementRange {
  int64_t begin = 0;
  int64_t count = -1;  // -1 = all
};

// What one execution works on. Addresses are the device's.
struct KernelArgs {
  const OpCall& call;  // planned
  // Start of the storage of each input, in schema order; nullptr for one that was not given. The
  // descriptions in `call` say where the elements are (the storage_offset is not applied yet).
  // Aligned to the element size at least.
  std::span<const std::byte* const> inputs;
  // The same for the outputs; nullptr for one that is masked out. An output overlaps neither the
  // workspace nor an input, except the input that it replaces (core/op/in_place.h), or one in
  // `windowed`.
  std::span<std::byte* const> outputs;
  // At least what `workspace_bytes` asked for, 64-byte aligned, contents undefined.
  std::span<std::byte> workspace;
  // What `control_bytes` asked for, likewise; no client can write to it while the kernel runs.
  std::span<std::byte> control = {};
  const Workers& workers;
  // The part of the output to compute, for calls of which Operator::runs_in_pieces is true. The
  // memory of the output, and of each input that is marked in `windowed` (schema order; empty =
  // none), is the range alone: its address is that of element range.begin. Such a tensor is plain
  // and has the output's shape. The output may lie where such an input does whose elements are as
  // large.
  ElementRange range = {};
  std::span<const bool> windowed = {};
  // Whether the range is read next. If not, it may be written past the caches (streaming stores),
  // as the whole output of a call may be.
  bool range_is_read_next = true;
};

// A client may write to inputs, outputs and the workspace while the kernel runs. Then the outputs
// may have any values, but nothing worse may happen. So a value that decides about an address, or
// whether scratch memory was filled, is read once, checked, and kept in control memory or on the
// stack. An output never shows bytes of scratch memory that this call did not write, not even if
// the call was stopped.
struct Kernel {
  // Scratch memory for a planned call.
  size_t (*workspace_bytes)(const OpCall& call) = nullptr;
  // Runs a planned call that has something to compute (OpCall::makes_nothing is false). Writes
  // every element of every wanted output, or returns an error. Allocates nothing. Of the mistakes
  // of a caller it reports only those that need data (161002). Checks Workers::ShouldStop at least
  // every 10 ms of work, and returns OK soon after a stop.
  absl::Status (*execute)(const KernelArgs& args) = nullptr;
  // Control memory for a planned call. nullptr = none.
  size_t (*control_bytes)(const OpCall& call) = nullptr;
};

inline size_t ControlBytes(const Kernel& kernel, const OpCall& call) {
  return kernel.control_bytes == nullptr ? 0 : kernel.control_bytes(call);
}

}  // namespace opserve
