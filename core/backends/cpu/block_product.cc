// The product's kernel keeps a block of C of R rows and two vectors in registers, over the whole
// depth of the packed blocks, which the second cache holds.
#include "core/backends/cpu/block_product.h"

#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/block_product.cc"
#include "hwy/foreach_target.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/backends/cpu/pace.h"
#include "core/backends/cpu/runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Floats from a row of a packed block to the next: no power of two, by which rows would share few
// lines of the caches.
inline constexpr int64_t kRowStep = kBlockCols + 16;
static_assert(kBlockDepth <= kBlockCols);

// Rows at a time, so that their sums, twice as many vectors, fill the registers.
inline constexpr int kRowsAtOnce = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

// c += a·b: R rows, two vectors of columns.
template <int R>
HWY_INLINE void MultiplyRows(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                             int64_t depth, float* HWY_RESTRICT c) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  FloatVec sums[R][2];
  for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k, b += kRowStep) {
    const FloatVec b0 = hn::LoadU(d, b);
    const FloatVec b1 = hn::LoadU(d, b + lanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const FloatVec factor = hn::Set(d, a[r * kRowStep + k]);
      sums[r][0] = hn::MulAdd(factor, b0, sums[r][0]);
      sums[r][1] = hn::MulAdd(factor, b1, sums[r][1]);
    }
  }
  for (int r = 0; r < R; ++r) {
    float* const row = c + r * kRowStep;
    hn::StoreU(hn::Add(hn::LoadU(d, row), sums[r][0]), d, row);
    hn::StoreU(hn::Add(hn::LoadU(d, row + lanes), sums[r][1]), d, row + lanes);
  }
}

HWY_INLINE int64_t ColsAtOnce() { return static_cast<int64_t>(2 * hn::Lanes(FloatTag())); }

// c += a·b of packed blocks; `cols` is a multiple of ColsAtOnce.
HWY_NOINLINE void MultiplyPacked(const float* a, const float* b, int64_t rows, int64_t cols,
                                 int64_t depth, float* c) {
  for (int64_t j = 0; j < cols; j += ColsAtOnce()) {
    int64_t i = 0;
    const auto multiply = [&]<int R>() HWY_ATTR {
      for (; i + R <= rows; i += R)
        MultiplyRows<R>(a + i * kRowStep, b + j, depth, c + i * kRowStep + j);
    };
    multiply.template operator()<kRowsAtOnce>();
    multiply.template operator()<3>();
    multiply.template operator()<1>();
  }
}

// c += a·b where a has few rows, and b is packed transposed: one sum of a vector's lanes for each
// element. Both are zeros up to a multiple of the lanes.
HWY_NOINLINE void MultiplyDots(const float* a, const float* b, int64_t rows, int64_t cols,
                               int64_t depth, float* c) {
  const FloatTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < cols; ++j, b += kRowStep) {
    for (int64_t r = 0; r < rows; ++r) {
      const float* const row = a + r * kRowStep;
      FloatVec sum0 = hn::Zero(d);
      FloatVec sum1 = sum0;
      int64_t k = 0;
      for (; k + lanes < depth; k += 2 * lanes) {
        sum0 = hn::MulAdd(hn::LoadU(d, row + k), hn::LoadU(d, b + k), sum0);
        sum1 = hn::MulAdd(hn::LoadU(d, row + k + lanes), hn::LoadU(d, b + k + lanes), sum1);
      }
      if (k < depth) sum0 = hn::MulAdd(hn::LoadU(d, row + k), hn::LoadU(d, b + k), sum0);
      c[r * kRowStep + j] += hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
    }
  }
}

// Zeros after the first `count` columns of each row, up to a multiple of `multiple`.
HWY_INLINE void PadRows(float* block, int64_t rows, int64_t count, int64_t multiple) {
  const int64_t past = count % multiple == 0 ? 0 : multiple - count % multiple;
  for (int64_t r = 0; r < rows && past > 0; ++r)
    std::fill_n(block + r * kRowStep + count, past, 0.0F);
}

class BlockProduct {
 public:
  BlockProduct(const Workers& workers, const ProductPlan& plan, std::span<std::byte> workspace,
               PackBlock a, PackBlock b, StoreBlock store)
      : workers_(workers),
        plan_(plan),
        shape_(plan.shape()),
        partials_(ScratchAt<float>(workspace, plan.partials())),
        a_(a),
        b_(b),
        store_(store) {}

  void Run() {
    const int64_t segments = plan_.segments();
    ParallelRanges(workers_, plan_.tiles() * segments, plan_.UnitsOfChunk(),
                   [&](int64_t first, int64_t last) {
                     Pace pace(workers_);
                     Blocks blocks;
                     for (int64_t i = first; i < last && !pace.stopped(); ++i)
                       MakeTile(TileAt(i / segments), i % segments, pace, blocks);
                   });
    if (segments == 1) return;
    ParallelRanges(workers_, plan_.tiles(), 1, [&](int64_t first, int64_t last) {
      Pace pace(workers_);
      Blocks blocks;
      for (int64_t i = first; i < last; ++i) AddSegments(TileAt(i), pace, blocks);
    });
  }

 private:
  // Of one thread. Only what was written before is read.
  struct Blocks {
    Blocks() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)

    alignas(64) float a[kBlockRows * kRowStep];
    alignas(64) float b[kBlockDepth * kRowStep];
    alignas(64) float c[kBlockRows * kRowStep];
  };
  static constexpr BlockSteps kSteps = {kRowStep, 1};

  // Tiles of the same columns follow each other.
  MatrixBlock TileAt(int64_t index) const {
    const int64_t row = index % plan_.row_blocks() * kBlockRows;
    index /= plan_.row_blocks();
    const int64_t col_blocks = (shape_.cols + kBlockCols - 1) / kBlockCols;
    const int64_t col = index % col_blocks * kBlockCols;
    return {index / col_blocks, row, std::min(kBlockRows, shape_.rows - row), col,
            std::min(kBlockCols, shape_.cols - col)};
  }

  void MakeTile(const MatrixBlock& tile, int64_t segment, Pace& pace, Blocks& blocks) {
    const int64_t width = (tile.cols + ColsAtOnce() - 1) / ColsAtOnce() * ColsAtOnce();
    for (int64_t r = 0; r < tile.rows; ++r) std::fill_n(blocks.c + r * kRowStep, width, 0.0F);
    const int64_t begin = segment * plan_.segment_depth();
    const int64_t end = std::min(begin + plan_.segment_depth(), shape_.depth);
    for (int64_t k = begin; k < end && !pace.stopped(); k += kBlockDepth) {
      const int64_t depth = std::min(kBlockDepth, end - k);
      AddProducts(tile, k, depth, blocks);
      pace.Goes(plan_.BlockCost(depth));
    }
    if (begin >= end) pace.Goes(plan_.BlockCost(0));
    if (pace.stopped()) return;
    if (plan_.segments() == 1) return Store(tile, blocks.c);
    for (int64_t r = 0; r < tile.rows; ++r) {
      std::memcpy(PartialRow(tile, segment, r), blocks.c + r * kRowStep,
                  static_cast<size_t>(tile.cols) * sizeof(float));
    }
  }

  // Of `depth` terms from the k-th on.
  void AddProducts(const MatrixBlock& tile, int64_t k, int64_t depth, Blocks& blocks) const {
    const MatrixBlock left = {tile.batch, tile.row, tile.rows, k, depth};
    const MatrixBlock right = {tile.batch, k, depth, tile.col, tile.cols};
    Pack(left, a_, b_, blocks.a, kSteps);
    if (plan_.by_dots()) {
      Pack(right, b_, a_, blocks.b, kSteps.Transposed());
      PadRows(blocks.a, tile.rows, depth, static_cast<int64_t>(hn::Lanes(FloatTag())));
      PadRows(blocks.b, tile.cols, depth, static_cast<int64_t>(hn::Lanes(FloatTag())));
      return MultiplyDots(blocks.a, blocks.b, tile.rows, tile.cols, depth, blocks.c);
    }
    Pack(right, b_, a_, blocks.b, kSteps);
    PadRows(blocks.b, depth, tile.cols, ColsAtOnce());
    const int64_t width = (tile.cols + ColsAtOnce() - 1) / ColsAtOnce() * ColsAtOnce();
    MultiplyPacked(blocks.a, blocks.b, tile.rows, width, depth, blocks.c);
  }

  float* PartialRow(const MatrixBlock& tile, int64_t segment, int64_t row) const {
    const int64_t matrix = segment * shape_.batch + tile.batch;
    return partials_ + (matrix * shape_.rows + tile.row + row) * shape_.cols + tile.col;
  }

  void AddSegments(const MatrixBlock& tile, Pace& pace, Blocks& blocks) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      float* const sums = blocks.c + r * kRowStep;
      std::fill_n(sums, tile.cols, 0.0F);
      for (int64_t s = 0; s < plan_.segments(); ++s) {
        const float* const row = PartialRow(tile, s, r);
        for (int64_t c = 0; c < tile.cols; ++c) sums[c] += row[c];
      }
      if (!pace.Goes(plan_.segments() * tile.cols)) return;
    }
    Store(tile, blocks.c);
  }

  // A block of the one operand, or, where the product is transposed, of the other.
  void Pack(const MatrixBlock& block, PackBlock plain, PackBlock other, float* to,
            BlockSteps steps) const {
    if (plan_.transposed()) return other(block.Transposed(), to, steps.Transposed());
    plain(block, to, steps);
  }

  void Store(const MatrixBlock& tile, float* from) const {
    if (plan_.transposed()) return store_(tile.Transposed(), from, kSteps.Transposed());
    store_(tile, from, kSteps);
  }

  const Workers& workers_;
  const ProductPlan& plan_;
  const ProductShape& shape_;
  float* const partials_;
  const PackBlock a_;
  const PackBlock b_;
  const StoreBlock store_;
};

void RunBlockProduct(const Workers& workers, const ProductPlan& plan,
                     std::span<std::byte> workspace, PackBlock a, PackBlock b, StoreBlock store) {
  BlockProduct(workers, plan, workspace, a, b, store).Run();
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {
namespace {

int64_t NumBlocks(int64_t extent, int64_t block) {
  return extent / block + (extent % block == 0 ? 0 : 1);
}

// Rows that are too few to make use of what is packed in vectors of columns.
constexpr int64_t kFewRows = 4;
// Tiles below which the depth is cut, and about how many units it is cut into.
constexpr int64_t kFewTiles = 32;
// Nanoseconds that a unit of a cut depth is worth.
constexpr int64_t kLeastOfSegment = kChunk;

}  // namespace

ProductPlan::ProductPlan(const ProductShape& shape, ScratchPlan& scratch)
    : shape_(shape), transposed_(shape.rows > shape.cols) {
  if (shape.batch == 0 || shape.rows == 0 || shape.cols == 0) shape_ = {};
  if (transposed_) std::swap(shape_.rows, shape_.cols);
  by_dots_ = shape_.rows <= kFewRows && (transposed_ || shape_.cols <= kFewRows);
  row_blocks_ = NumBlocks(shape_.rows, kBlockRows);
  col_blocks_ = NumBlocks(shape_.cols, kBlockCols);
  segment_depth_ = std::max<int64_t>(shape_.depth, 1);
  const int64_t blocks = NumBlocks(shape_.depth, kBlockDepth);
  if (tiles() == 0 || tiles() >= kFewTiles || blocks < 2) return;
  const int64_t least = std::max<int64_t>(1, kLeastOfSegment / BlockCost(kBlockDepth));
  const int64_t blocks_of_segment = std::max(least, NumBlocks(blocks, kFewTiles / tiles()));
  segments_ = NumBlocks(blocks, blocks_of_segment);
  if (segments_ == 1) return;
  segment_depth_ = blocks_of_segment * kBlockDepth;
  partials_ = scratch.Take(segments_ * shape_.batch * shape_.rows * shape_.cols, sizeof(float));
}

int64_t ProductPlan::BlockCost(int64_t depth) const {
  constexpr int64_t kProductsOfNanosecond = 32;
  constexpr int64_t kOverhead = 128;
  const int64_t rows = std::min(shape_.rows, kBlockRows);
  const int64_t cols = std::min(shape_.cols, kBlockCols);
  const int64_t elements = rows * cols;
  return kOverhead + elements * depth / kProductsOfNanosecond + (rows + cols) * depth + elements;
}

int64_t ProductPlan::UnitsOfChunk() const {
  const int64_t blocks = std::min(NumBlocks(segment_depth_, kBlockDepth), kChunk);
  return std::max<int64_t>(1, kChunk / (blocks * BlockCost(std::min(segment_depth_, kBlockDepth))));
}

HWY_EXPORT(RunBlockProduct);

void MultiplyBlocks(const Workers& workers, const ProductPlan& plan, std::span<std::byte> workspace,
                    PackBlock a, PackBlock b, StoreBlock store) {
  HWY_DYNAMIC_DISPATCH(RunBlockProduct)(workers, plan, workspace, a, b, store);
}

}  // namespace opserve::cpu
#endif
