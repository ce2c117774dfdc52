// Matmul, BatchMatMul and Addmm: products of views of the inputs.
#include "core/backends/cpu/block_product.h"
#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/matrix_view.h"

namespace opserve::cpu {
namespace {

// Of the inputs `first` and `first` + 1. A batch of matrices times one matrix is one product of
// more rows.
struct Factors {
  Factors(const OpCall& call, int first)
      : a(call.input(first)),
        b(call.input(first + 1)),
        out(call.output(0).desc),
        a_rank(a.shape.size()),
        b_rank(b.shape.size()),
        batch_rank(b_rank <= 2 ? 0 : std::max(a_rank, b_rank) - 2),
        rows_rank(b_rank <= 2 ? a_rank - 1 : std::min<size_t>(a_rank - 1, 1)) {}

  ProductShape shape() const {
    const auto count = [](std::span<const int64_t> dims) { return NumElements(dims).value_or(0); };
    const std::span<const int64_t> dims(out.shape);
    return {count(dims.first(batch_rank)), count(dims.subspan(batch_rank, rows_rank)),
            b_rank == 1 ? 1 : b.shape.back(), a.shape.back()};
  }

  const TensorDesc& a;
  const TensorDesc& b;
  const TensorDesc& out;
  const size_t a_rank;
  const size_t b_rank;
  const size_t batch_rank;  // dimensions of `out`, before those of its rows
  const size_t rows_rank;
};

// The batch that `desc` has before its matrices, of the broadcast rank.
void AppendBatch(const TensorDesc& desc, const Factors& factors, MatrixAxis& axis) {
  const size_t own = desc.shape.size() < 2 ? 0 : desc.shape.size() - 2;
  for (size_t i = 0; i < factors.batch_rank; ++i) {
    const size_t missing = factors.batch_rank - own;
    const bool repeats = i < missing || desc.shape[i - missing] == 1;
    axis.Append(factors.out.shape[i], repeats ? 0 : desc.strides[i - missing]);
  }
}

MatrixView ViewOfFirst(const KernelArgs& args, const Factors& factors, int input) {
  MatrixView view = ViewOfInput(args, input);
  if (factors.batch_rank > 0) AppendBatch(factors.a, factors, view.batch);
  const size_t last = factors.a_rank - 1;
  AppendDims(factors.a, last - factors.rows_rank, last, view.rows);
  AppendDims(factors.a, last, last + 1, view.cols);
  return view;
}

MatrixView ViewOfSecond(const KernelArgs& args, const Factors& factors, int input) {
  MatrixView view = ViewOfInput(args, input);
  if (factors.batch_rank > 0) AppendBatch(factors.b, factors, view.batch);
  const size_t depth = factors.b_rank == 1 ? 0 : factors.b_rank - 2;
  AppendDims(factors.b, depth, depth + 1, view.rows);
  AppendDims(factors.b, depth + 1, factors.b_rank, view.cols);
  return view;
}

MatrixView ViewOfProduct(const KernelArgs& args, const Factors& factors) {
  MatrixView view = ViewOfOutput(args, 0);
  const size_t cols = factors.batch_rank + factors.rows_rank;
  AppendDims(factors.out, 0, factors.batch_rank, view.batch);
  AppendDims(factors.out, factors.batch_rank, cols, view.rows);
  AppendDims(factors.out, cols, factors.out.shape.size(), view.cols);
  return view;
}

// `adjust` changes a block of the product before it is stored.
void Multiply(const KernelArgs& args, int first, StoreBlock adjust) {
  const Factors factors(args.call, first);
  ScratchPlan scratch;
  const ProductPlan plan(factors.shape(), scratch);
  const MatrixView a = ViewOfFirst(args, factors, first);
  const MatrixView b = ViewOfSecond(args, factors, first + 1);
  const MatrixView out = ViewOfProduct(args, factors);
  MultiplyBlocks(
      args.workers, plan, args.workspace,
      [&](const MatrixBlock& block, float* to, BlockSteps steps) { PackView(a, block, to, steps); },
      [&](const MatrixBlock& block, float* to, BlockSteps steps) { PackView(b, block, to, steps); },
      [&](const MatrixBlock& block, float* from, BlockSteps steps) {
        adjust(block, from, steps);
        StoreView(out, block, from, steps);
      });
}

template <int kFirst>
size_t ProductWorkspace(const OpCall& call) {
  ScratchPlan scratch;
  const ProductPlan plan(Factors(call, kFirst).shape(), scratch);
  return scratch.bytes();
}

absl::Status ExecuteMatmul(const KernelArgs& args) {
  Multiply(args, 0, [](const MatrixBlock&, float*, BlockSteps) {});
  return absl::OkStatus();
}

// self, broadcast to the result.
MatrixView ViewOfSummand(const KernelArgs& args) {
  MatrixView view = ViewOfInput(args, 0);
  const TensorDesc& desc = args.call.input(0);
  const Dims& out = args.call.output(0).desc.shape;
  const size_t missing = 2 - desc.shape.size();
  for (size_t i = 0; i < 2; ++i) {
    const bool repeats = i < missing || desc.shape[i - missing] == 1;
    (i == 0 ? view.rows : view.cols).Append(out[i], repeats ? 0 : desc.strides[i - missing]);
  }
  return view;
}

absl::Status ExecuteAddmm(const KernelArgs& args) {
  const float beta = ScalarOf(args, 0);
  const float alpha = ScalarOf(args, 1);
  const MatrixView self = ViewOfSummand(args);
  Multiply(args, 1, [&](const MatrixBlock& block, float* product, BlockSteps steps) {
    float summands[kBlockCols] = {};
    for (int64_t r = 0; r < block.rows; ++r) {
      float* const row = product + r * steps.row;
      const MatrixBlock summand = {0, block.row + r, 1, block.col, block.cols};
      if (beta != 0) PackView(self, summand, summands, {0, 1});
      for (int64_t c = 0; c < block.cols; ++c) {
        float& element = row[c * steps.col];
        element = beta == 0 ? alpha * element : beta * summands[c] + alpha * element;
      }
    }
  });
  return absl::OkStatus();
}

}  // namespace

extern constinit const Kernel kMatmulKernel = {ProductWorkspace<0>, ExecuteMatmul};
extern constinit const Kernel kBatchMatMulKernel = {ProductWorkspace<0>, ExecuteMatmul};
extern constinit const Kernel kAddmmKernel = {ProductWorkspace<1>, ExecuteAddmm};

}  // namespace opserve::cpu
