// How an operator runs on a backend: two functions, re-entrant, that keep nothing between calls.
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
  // Likewise for the outputs; nullptr for one that is masked out. None overlaps the workspace, nor
  // an input, but that one may be the input over which it is written (core/op/in_place.h).
  std::span<std::byte* const> outputs;
  // At least what `workspace_bytes` asked for, 64-byte aligned, contents undefined.
  std::span<std::byte> workspace;
  // What `control_bytes` asked for, likewise; but nobody else reaches it while the kernel runs.
  std::span<std::byte> control = {};
  const Workers& workers;
  // Of the output, where it is to be made in part; only for calls of which Operator::runs_in_pieces
  // is true. The output, and each input that is marked in `windowed` (schema order; empty = none),
  // is plain, has the output's shape, and its address is that of element range.begin: its memory
  // is the range alone.
  ElementRange range = {};
  std::span<const bool> windowed = {};
  // Of a range: whether it is read next. Else it may be written past the caches, as a whole output
  // of the call's would be.
  bool range_is_read_next = true;
};

// Inputs, outputs and the workspace may be memory of a client's, which that client writes while the
// kernel runs. Then the outputs may be any numbers, and nothing else may happen: what decides about
// an address, or whether scratch memory was filled, is read once, checked, and kept in control
// memory or on a thread's stack. No output shows what this call did not put into its scratch
// memory, not even when the call was stopped.
struct Kernel {
  // Scratch memory for a planned call.
  size_t (*workspace_bytes)(const OpCall& call) = nullptr;
  // Runs a planned call, of which there is something to make (OpCall::makes_nothing is false);
  // every element of every wanted output is written, or an error returned. Allocates nothing. Its
  // only errors of the caller's making are those that need data (161002). Asks Workers::ShouldStop
  // at least every 10 ms of work; once stopped it returns OK soon.
  absl::Status (*execute)(const KernelArgs& args) = nullptr;
  // Control memory for a planned call. nullptr = none.
  size_t (*control_bytes)(const OpCall& call) = nullptr;
};

inline size_t ControlBytes(const Kernel& kernel, const OpCall& call) {
  return kernel.control_bytes == nullptr ? 0 : kernel.control_bytes(call);
}

}  // namespace opserve
