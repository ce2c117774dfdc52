// Which steps of a program run together: element-wise ones piece by piece, so that what one makes
// is still in the cache when the next reads it; short ones that do not depend on each other side by
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/engine/plan/plan.h"
#include "core/program/typed_program.h"

namespace opserve {

// Steps [first, end): one step, or element-wise ones whose outputs have one shape. Of these a piece
// of every output is made, then the next piece of every output; any cuts give the bits of whole
// steps (KernelArgs::range).
struct StepChain {
  size_t first = 0;
  size_t end = 0;
  int64_t elements = 0;  // of each output, where there is more than one step
  int64_t piece = 0;     // elements of a piece, a multiple of kPieceUnit

  bool runs_in_pieces() const { return end - first > 1; }
  bool has(size_t step) const { return first <= step && step < end; }
};

// Chains of which none reads what another makes. They follow each other.
using ProgramStage = absl::InlinedVector<StepChain, 1>;

// Elements whose bytes are a multiple of a line of the cache, whatever their dtype.
inline constexpr int64_t kPieceUnit = 64;
// Pieces of the results that only their own chain reads lie in that many bytes of a thread's stack.
inline constexpr size_t kPieceBytes = size_t{64} << 10;
inline constexpr int64_t kMaxPiece = 16384;

// For the steps of `program`, planned for `device`, all in order. `piece` is not set yet.
std::vector<ProgramStage> FindStages(const TypedProgram& program,
                                     std::span<const Plan* const> plans, const Device& device);

}  // namespace opserve
