// Element-wise kernels over any layout: the iteration space that broadcasting makes of a call, and
// access to it in tiles.
//
// A tile is a run of elements that are neighbours in the row-major order of the space. Where a
// tensor has them side by side in memory the tile is that memory; where it does not (strides,
// broadcasting, another dtype) the tile is a small copy that stays in the L1 cache (tiles-inl.h).
// Long rows are visited one by one, without copies. The vector loops are in elementwise-inl.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/device/kernel.h"
#include "core/tensor/shape.h"

namespace opserve::cpu {

inline constexpr size_t kMaxElementwiseInputs = 5;
// Elements a tile: three inputs and the output, in float, fill two thirds of a 48 KiB L1 cache.
inline constexpr size_t kTile = 2048;
// The most elements of a chunk, the unit of work of a thread. A multiple of kTile.
inline constexpr int64_t kChunk = 16 * static_cast<int64_t>(kTile);
// Rows that are shorter cost less copied to tiles than visited one by one.
inline constexpr int64_t kShortestRow = 256;
// How many of `count` a chunk takes: there are as few chunks as go with at most `most` in each, and
// they are about even, so that threads end together.
inline int64_t EvenChunk(int64_t count, int64_t most) {
  // Divisions cost a small call more than its elements do.
  if (count <= most) return std::max<int64_t>(1, count);
  const int64_t chunks = (count - 1) / most + 1;
  return (count + chunks - 1) / chunks;
}
// Whether an output of that many bytes is written past the caches, so that its memory is not read
// first. Smaller ones would be pushed out of the cache where the next reader finds them. Measured
// with GroupNorm: 13 MB lose by it, 26 MB neither win nor lose, 64 MB win a third.
inline bool IsStreamed(int64_t bytes) { return bytes > int64_t{32} << 20; }

// One tensor of the space.
struct Operand {
  const std::byte* input = nullptr;  // first element; null for the output
  std::byte* output = nullptr;       // first element; null for inputs
  DType dtype = DType::kUndefined;
  int64_t first = 0;      // element of the space at the address; not 0 only where linear
  Dims strides;           // along the dimensions of the space, in elements; 0 where broadcast
  bool linear = false;    // element i of the space is at address i
  bool constant = false;  // every element of the space is the same one
};

struct ElementwiseCall {
  int64_t count = 0;  // elements of the space
  // Those to visit: all, but for a map in part (KernelArgs::range).
  int64_t begin = 0;
  int64_t end = 0;
  int64_t written = 0;  // elements of the output that are written before any is read
  Dims shape;           // merged dimensions, outermost first; empty for a single element
  // Where the space is visited row by row: the innermost extent. 0 where it is not. Only for maps:
  // sums are of whole tiles.
  int64_t row = 0;
  bool last_is_of_rows = false;  // the last input is one element in each row
  size_t num_inputs = 0;
  std::array<Operand, kMaxElementwiseInputs> inputs;
  Operand output;                      // only for maps
  DType promoted = DType::kUndefined;  // of the inputs: each is rounded to it first
  DType tile_dtype =
      DType::kFloat32;  // of the tiles: the dtype of all tensors where they agree, else float32
};

// A map writes one element of output `output` an element of the space (that output's shape), from
// the first `num_inputs` inputs, at most kMaxElementwiseInputs. An optional one that was not given
// is 1 everywhere.
ElementwiseCall MakeMap(const KernelArgs& args, size_t num_inputs, size_t output = 0);

// Has `call` visit rows, if in each the last input is one element and they are long.
void VisitRowsOfLast(ElementwiseCall& call);

// The shape to which the given inputs broadcast.
Dims InputsShape(const OpCall& call);

// A reduction reads the space (the broadcast of the inputs).
ElementwiseCall MakeReduction(const KernelArgs& args);

// An attribute that is a scalar, as the kernels compute with it.
inline float ScalarOf(const KernelArgs& args, int attribute) {
  return static_cast<float>(args.call.attribute<double>(attribute));
}

// Chunks from `begin` to `end`.
int64_t NumChunks(const ElementwiseCall& call);
// Elements that chunk `chunk` begins with and ends before: whole tiles.
int64_t ChunkBegin(const ElementwiseCall& call, int64_t chunk);
int64_t ChunkEnd(const ElementwiseCall& call, int64_t chunk);

// Elements [begin, begin + count) of `operand`, as they are: `element_bytes` each.
void GatherTile(const Operand& operand, std::span<const int64_t> shape, int64_t begin, size_t count,
                std::byte* tile);
void ScatterTile(const Operand& operand, std::span<const int64_t> shape, int64_t begin,
                 size_t count, const std::byte* tile);

// Where `operand` has element `begin` of the space, in elements from its first.
int64_t OffsetOf(const Operand& operand, std::span<const int64_t> shape, int64_t begin);

// An integer or bool tile rounded to `promoted` and widened to float.
void ConvertIntegerTile(DType from, DType promoted, const std::byte* tile, size_t count,
                        float* out);

}  // namespace opserve::cpu
