// Embedding: a row of its weight for each index. EmbeddingDenseBackward: for each row the sum of
// the gradients of its indices, in double, the last first.
#include "core/backends/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/backends/cpu/embedding.cc"
#include "hwy/foreach_target.h"

#include <type_traits>

#include "core/backends/cpu/embedding_plan.h"
#include "core/backends/cpu/float_runs-inl.h"
#include "core/backends/cpu/indices.h"
#include "core/backends/cpu/runs-inl.h"
#include "core/base/status_macros.h"

HWY_BEFORE_NAMESPACE();
namespace opserve::cpu::HWY_NAMESPACE {

// Copies the rows.
template <typename T>
class EmbeddingRows {
 public:
  EmbeddingRows(const KernelArgs& args, const EmbeddingPlan& plan)
      : args_(args),
        plan_(plan),
        weight_(args.call.input(0)),
        first_(reinterpret_cast<const T*>(args.inputs[0]) + weight_.storage_offset),
        indices_(InputTensor(args, 1)),
        out_(OutputTensor(args, 0)),
        store_(IsStreamed(args.call.output(0).desc.size_bytes()) ? Store::kStreamed
                                                                 : Store::kCached) {}

  void Run() {
    ParallelRanges(args_.workers, plan_.indices * plan_.pieces,
                   UnitsOfChunk(plan_.piece() + kEmbeddingRowCost),
                   [&](int64_t first, int64_t last) { CopyPieces(first, last); });
  }

 private:
  void CopyPieces(int64_t first, int64_t last) const {
    IndexReader indices(indices_);
    RunWriter<T> writer(out_, plan_.ElementOf(first), store_);
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = plan_.BeginOf(i);
      const int64_t count = std::min(kPiece, plan_.width - begin);
      Copy(indices.At(i / plan_.pieces), begin, count, writer.Next(static_cast<size_t>(count)));
    }
  }

  // Once checked, an index may have been written to: nothing is read where there is no row.
  HWY_INLINE void Copy(int64_t row, int64_t begin, int64_t count, T* to) const {
    if (row < 0 || row >= plan_.rows) {
      std::fill_n(to, count, T{});
      return;
    }
    const int64_t step = weight_.strides[1];
    const T* from = first_ + row * weight_.strides[0] + begin * step;
    if (step == 1) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
    }
  }

  const KernelArgs& args_;
  const EmbeddingPlan& plan_;
  const TensorDesc& weight_;
  const T* const first_;
  const StridedTensor indices_;
  const StridedTensor out_;
  const Store store_;
};

// Sums the gradients of each row.
template <typename T>
class EmbeddingSums {
 public:
  EmbeddingSums(const KernelArgs& args, const EmbeddingPlan& plan, const IndexLists& lists)
      : args_(args),
        plan_(plan),
        lists_(lists),
        grad_(InputTensor(args, 0)),
        out_(OutputTensor(args, 0)),
        padding_(args.call.attribute<int64_t>(1)),
        is_scaled_(args.call.attribute<bool>(2)) {}

  void Run() {
    const int64_t of_row = 1 + std::min(plan_.indices / std::max<int64_t>(plan_.rows, 1), kChunk);
    ParallelRanges(args_.workers, plan_.rows * plan_.pieces,
                   UnitsOfChunk((plan_.piece() + kEmbeddingRowCost) * of_row),
                   [&](int64_t first, int64_t last) { SumPieces(first, last); });
  }

 private:
  void SumPieces(int64_t first, int64_t last) const {
    Pace pace(args_.workers);
    FloatReader<T> grad(grad_);
    RunWriter<T> writer(out_, plan_.ElementOf(first), Store::kCached);
    alignas(64) double sums[kTile];
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = i / plan_.pieces;
      const int64_t begin = plan_.BeginOf(i);
      const auto count = static_cast<size_t>(std::min(kPiece, plan_.width - begin));
      const int64_t head = row == padding_ ? IndexLists::kEnd : lists_.heads[row];
      const int64_t terms =
          head == IndexLists::kEnd ? 0 : Sum(head, begin, count, grad, sums, pace);
      if (!pace.Goes(static_cast<int64_t>(count) + kEmbeddingRowCost)) return;
      T* out = writer.Next(count);
      if (terms == 0) {
        std::fill_n(out, count, T{});
      } else {
        StoreSums(sums, static_cast<int64_t>(count),
                  is_scaled_ ? 1.0 / static_cast<double>(terms) : 1.0, out);
      }
    }
  }

  // Of the list that begins at `head`; how many terms there are.
  int64_t Sum(int64_t head, int64_t begin, size_t count, FloatReader<T>& grad, double* sums,
              Pace& pace) const {
    int64_t terms = 0;
    for (int64_t at = head; at != IndexLists::kEnd; at = lists_.next[at]) {
      const float* x = grad.Read(at * plan_.width + begin, static_cast<int64_t>(count));
      if (terms++ == 0) {
        SetWeighted(x, count, 1, sums);
      } else {
        AddWeighted(x, count, 1, sums);
      }
      if (!pace.Goes(static_cast<int64_t>(count) + kEmbeddingRowCost)) break;
    }
    return terms;
  }

  const KernelArgs& args_;
  const EmbeddingPlan& plan_;
  const IndexLists& lists_;
  const StridedTensor grad_;
  const StridedTensor out_;
  const int64_t padding_;
  const bool is_scaled_;
};

void Embedding(const KernelArgs& args, const EmbeddingPlan& plan) {
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { EmbeddingRows<decltype(element)>(args, plan).Run(); });
}

void EmbeddingDenseBackward(const KernelArgs& args, const EmbeddingPlan& plan,
                            const IndexLists& lists) {
  WithFloatType(args.call.input(0).dtype,
                [&](auto element) { EmbeddingSums<decltype(element)>(args, plan, lists).Run(); });
}

}  // namespace opserve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opserve::cpu {

HWY_EXPORT(Embedding);
HWY_EXPORT(EmbeddingDenseBackward);

namespace {

absl::Status ExecuteEmbedding(const KernelArgs& args) {
  const EmbeddingPlan plan = PlanEmbedding(args.call);
  OPSERVE_RETURN_IF_ERROR(CheckIndices(args, 1, plan.rows));
  HWY_DYNAMIC_DISPATCH(Embedding)(args, plan);
  return absl::OkStatus();
}

absl::Status ExecuteEmbeddingDenseBackward(const KernelArgs& args) {
  const EmbeddingPlan plan = PlanEmbeddingDenseBackward(args.call);
  const IndexLists lists = {ScratchAt<int64_t>(args.control, plan.heads),
                            ScratchAt<int64_t>(args.control, plan.next)};
  OPSERVE_RETURN_IF_ERROR(LinkIndices(args, 1, plan.rows, lists));
  HWY_DYNAMIC_DISPATCH(EmbeddingDenseBackward)(args, plan, lists);
  return absl::OkStatus();
}

size_t EmbeddingDenseBackwardControl(const OpCall& call) {
  return PlanEmbeddingDenseBackward(call).control_bytes;
}

}  // namespace

extern constinit const Kernel kEmbeddingKernel = {NoWorkspace, ExecuteEmbedding};
extern constinit const Kernel kEmbeddingDenseBackwardKernel = {
    NoWorkspace, ExecuteEmbeddingDenseBackward, EmbeddingDenseBackwardControl};

}  // namespace opserve::cpu
#endif
