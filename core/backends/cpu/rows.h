// A tensor as rows along one of its dimensions: how kernels that reduce rows cut their work and lay
// out their workspace, from shapes alone.
#pragma once

#include <cstdint>

#include "core/backends/cpu/runs.h"
#include "core/backends/cpu/scratch.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// Below so many rows, threads work on one row together, in phases, where there is enough to do.
inline constexpr int64_t kMinWholeRows = 16;
inline constexpr int64_t kMinSplitRowElements = 1 << 16;

struct RowGeometry {
  int64_t rows = 0;
  int64_t extent = 0;  // of a row
  bool split = false;

  int64_t pieces() const { return NumPieces(extent); }
};

// The dimension that attribute `attribute` of a planned call names, of a tensor of `rank`.
inline size_t DimensionOf(const OpCall& call, int attribute, size_t rank) {
  const int64_t dim = call.attribute<int64_t>(attribute);
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}

// `desc` with its dimension `dim` as the last. A scalar is a row of one element.
inline TensorDesc RowsAlong(const TensorDesc& desc, size_t dim) {
  TensorDesc view = desc;
  if (desc.shape.empty()) return view;
  view.shape.erase(view.shape.begin() + static_cast<int64_t>(dim));
  view.shape.push_back(desc.shape[dim]);
  view.strides.erase(view.strides.begin() + static_cast<int64_t>(dim));
  view.strides.push_back(desc.strides[dim]);
  return view;
}

// Of a tensor whose last dimension is that of the rows. Without elements there are no rows.
inline RowGeometry MakeRows(const TensorDesc& view) {
  RowGeometry geometry;
  const int64_t elements = view.num_elements();
  if (elements == 0) return geometry;
  geometry.extent = view.shape.empty() ? 1 : view.shape.back();
  geometry.rows = elements / geometry.extent;
  geometry.split =
      geometry.rows < kMinWholeRows && geometry.extent > kPiece && elements >= kMinSplitRowElements;
  return geometry;
}

// Workspace: a part of each piece of each row, where rows are split.
inline size_t RowsWorkspace(const RowGeometry& geometry, size_t part_bytes) {
  if (!geometry.split) return 0;
  ScratchPlan scratch;
  scratch.Take(geometry.rows * geometry.pieces(), part_bytes);
  return scratch.bytes();
}

}  // namespace opserve::cpu
