// How the kernels of Embedding and EmbeddingDenseBackward cut their rows, and lay out their control
// memory: from shapes alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/backends/cpu/runs.h"
#include "core/backends/cpu/scratch.h"
#include "core/op/op_call.h"

namespace opserve::cpu {

// What finding a row costs, as Pace counts it.
inline constexpr int64_t kEmbeddingRowCost = 32;

struct EmbeddingPlan {
  EmbeddingPlan(int64_t rows_of_weight, int64_t width_of_row, int64_t number_of_indices)
      : rows(rows_of_weight),
        width(width_of_row),
        indices(number_of_indices),
        pieces(NumPieces(width)) {}

  int64_t rows;     // of the weight
  int64_t width;    // elements of a row
  int64_t indices;  // how many there are
  int64_t pieces;   // of a row

  // Control memory: offsets in bytes, and all of it.
  size_t heads = 0;
  size_t next = 0;
  size_t control_bytes = 0;

  // Elements of a row's largest piece.
  int64_t piece() const { return std::min(width, kPiece); }
  // Where piece `i` of all rows begins: in its row, and in all of them.
  int64_t BeginOf(int64_t i) const { return i % pieces * kPiece; }
  int64_t ElementOf(int64_t i) const { return i / pieces * width + BeginOf(i); }
};

inline EmbeddingPlan PlanEmbedding(const OpCall& call) {
  const Dims& weight = call.input(0).shape;
  return {weight[0], weight[1], call.input(1).num_elements()};
}

inline EmbeddingPlan PlanEmbeddingDenseBackward(const OpCall& call) {
  EmbeddingPlan plan(call.attribute<int64_t>(0), call.input(0).shape.back(),
                     call.input(1).num_elements());
  ScratchPlan control;
  if (plan.width > 0) {
    plan.heads = control.Take(plan.rows, sizeof(int64_t));
    plan.next = control.Take(plan.indices, sizeof(int64_t));
  }
  plan.control_bytes = control.bytes();
  return plan;
}

}  // namespace opserve::cpu
