// How kernels that work on runs of elements cut them: into pieces that the nearest cache holds, and
// these into chunks of work. From shapes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/backends/cpu/elementwise.h"

namespace opserve::cpu {

// Elements of a run that are read at once.
inline constexpr auto kPiece = static_cast<int64_t>(kTile);

inline int64_t NumPieces(int64_t elements) { return (elements + kPiece - 1) / kPiece; }

// Units of `elements` each that a chunk of work takes, so that it has about kChunk elements.
inline int64_t UnitsOfChunk(int64_t elements) {
  return std::max<int64_t>(1, kChunk / std::max<int64_t>(elements, 1));
}

}  // namespace opserve::cpu
