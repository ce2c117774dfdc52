// How an operator runs on a backend: two functions, re-entrant, that keep nothing between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/base/parallel.h"
#include "core/op/op_call.h"

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
  // Likewise for the outputs; nullptr for one that is masked out. Outputs do not overlap inputs or
  // the workspace.
  std::span<std::byte* const> outputs;
  // At least what `workspace_bytes` asked for, 64-byte aligned, contents undefined.
  std::span<std::byte> workspace;
  const Workers& workers;
  // Of the output, where it is to be made in part; only for calls of which Operator::runs_in_pieces
  // is true. The output, and each input that is marked in `windowed` (schema order; empty = none),
  // is plain, has the output's shape, and its address is that of element range.begin: its memory
  // is the range alone.
  ElementRange range = {};
  std::span<const bool> windowed = {};
};

struct Kernel {
  // Scratch memory for a planned call.
  size_t (*workspace_bytes)(const OpCall& call);
  // Runs a planned call; every element of every wanted output is written, or an error returned.
  // Allocates nothing. Its only errors of the caller's making are those that need data (161002).
  absl::Status (*execute)(const KernelArgs& args);
};

}  // namespace opserve
