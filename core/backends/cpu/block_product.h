// Products of matrices, block by block, whatever the matrices are made of: of each of a batch,
// C = A·B. Operands are packed to float blocks on the thread's stack; each element of C is summed
// in an order that follows from the shapes alone, and rounded once, when the caller's StoreBlock
// writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "core/backends/cpu/scratch.h"
#include "core/workers/worker_pool.h"

namespace opserve::cpu {

// Rows [row, row + rows) and columns [col, col + cols) of a matrix of the batch.
struct MatrixBlock {
  int64_t batch;
  int64_t row;
  int64_t rows;
  int64_t col;
  int64_t cols;

  MatrixBlock Transposed() const { return {batch, col, cols, row, rows}; }
};

// Element (r, c) of a block in floats is at r * row + c * col.
struct BlockSteps {
  int64_t row;
  int64_t col;

  BlockSteps Transposed() const { return {col, row}; }
};

// Writes the block of an operand.
using PackBlock = absl::FunctionRef<void(const MatrixBlock& block, float* to, BlockSteps steps)>;
// Writes the block of the result, which it may change in place before.
using StoreBlock = absl::FunctionRef<void(const MatrixBlock& block, float* from, BlockSteps steps)>;

// A is (rows, depth), B is (depth, cols), C is (rows, cols). The batch's elements of C can be
// counted; `depth` is any number.
struct ProductShape {
  int64_t batch = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t depth = 0;
};

// What a block has at most.
inline constexpr int64_t kBlockRows = 96;
inline constexpr int64_t kBlockCols = 256;
inline constexpr int64_t kBlockDepth = 256;

// How a product is cut.
class ProductPlan {
 public:
  // Takes what is needed of `scratch`.
  ProductPlan(const ProductShape& shape, ScratchPlan& scratch);

  // Computes Cᵀ = Bᵀ·Aᵀ, so that vectors lie along the longer side. `shape` is Cᵀ's then.
  bool transposed() const { return transposed_; }
  const ProductShape& shape() const { return shape_; }
  // Whether each element is a sum along the depth of both operands, of which one has few rows: rows
  // of A times a vector, and vectors times vectors.
  bool by_dots() const { return by_dots_; }
  int64_t row_blocks() const { return row_blocks_; }
  int64_t tiles() const { return shape_.batch * row_blocks_ * col_blocks_; }
  // Where there are few tiles the depth is cut, too; the sums of each segment are added later.
  int64_t segments() const { return segments_; }
  int64_t segment_depth() const { return segment_depth_; }
  size_t partials() const { return partials_; }
  // About how many nanoseconds a block of a tile takes, `depth` deep.
  int64_t BlockCost(int64_t depth) const;
  // (Tile, segment) pairs that a chunk of work takes.
  int64_t UnitsOfChunk() const;

 private:
  ProductShape shape_;
  bool transposed_;
  bool by_dots_ = false;
  int64_t row_blocks_;
  int64_t col_blocks_;
  int64_t segments_ = 1;
  int64_t segment_depth_;
  size_t partials_ = 0;
};

// `workspace` is that of the plan. A depth of 0 makes zeros.
void MultiplyBlocks(const Workers& workers, const ProductPlan& plan, std::span<std::byte> workspace,
                    PackBlock a, PackBlock b, StoreBlock store);

}  // namespace opserve::cpu
