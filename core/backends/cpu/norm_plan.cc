#include "core/backends/cpu/norm_plan.h"

#include <span>

#include "core/backends/cpu/scratch.h"

namespace opserve::cpu {
namespace {

// What a group may take of a core's own cache between the two passes over it.
constexpr int64_t kGroupCacheBytes = 1 << 20;
// Below this many elements threads do not pay; below this many groups they would not share the work
// evenly.
constexpr int64_t kMinSplitElements = 1 << 16;
constexpr int64_t kMinGroups = 16;
// Rows below two of the longest vectors.
constexpr int64_t kFlatRow = 32;
// Flat: elements of a batch whose sums a chunk keeps in the nearest cache, and the batches that it
// adds as floats.
constexpr int64_t kFlatElements = 4096;
constexpr int64_t kMinFlatBatches = 8;
constexpr int64_t kMaxFlatBatches = 64;
// Flat: pieces of a group that threads share.
constexpr int64_t kMinSplitPieces = 4;

// `tensors` of the size of `data` are read, whose element count fits int64.
GroupGeometry MakeGeometry(const NormShape& shape, const TensorDesc& data, int64_t tensors) {
  GroupGeometry geometry;
  geometry.n = shape.n;
  geometry.c = shape.c;
  geometry.hw = shape.hw;
  geometry.group = shape.group;
  geometry.channels = shape.group == 0 ? 0 : shape.c / shape.group;
  // Without data there is no work to cut, and the other products need not fit.
  const int64_t elements = data.num_elements();
  if (elements == 0) return geometry;
  const auto element_bytes = static_cast<int64_t>(DTypeSize(data.dtype));
  const bool too_large = geometry.group_elements() > kGroupCacheBytes / (tensors * element_bytes);
  const bool too_few = geometry.groups() < kMinGroups && elements >= kMinSplitElements;
  geometry.flat = geometry.hw < kFlatRow;
  geometry.split = too_large || too_few;
  return geometry;
}

bool HasData(const GroupGeometry& geometry) {
  return geometry.n > 0 && geometry.c > 0 && geometry.hw > 0;
}

// How many batches of how many groups a chunk takes; several threads work on one group only where
// they would share too few chunks.
void CutFlat(NormGradientPlan& plan) {
  GroupGeometry& geometry = plan.geometry;
  plan.groups_of_chunk =
      std::clamp<int64_t>(kFlatElements / geometry.group_elements(), 1, geometry.group);
  const int64_t elements = plan.groups_of_chunk * geometry.group_elements();
  plan.batches_of_chunk = std::clamp(kChunk / elements, kMinFlatBatches, kMaxFlatBatches);
  geometry.split &= geometry.group_elements() >= kMinSplitPieces * kPiece &&
                    plan.batch_chunks() * plan.group_chunks() < kMinGroups;
}

}  // namespace

NormShape RowsOf(const TensorDesc& data, size_t normalized) {
  const std::span<const int64_t> shape = data.shape;
  // A count that does not fit is one of rows without elements and without statistics.
  return {.n = NumElements(shape.first(shape.size() - normalized)).value_or(0),
          .c = NumElements(shape.last(normalized)).value_or(0),
          .hw = 1,
          .group = 1};
}

NormPlan PlanNorm(const NormCall& call) {
  NormPlan plan;
  plan.geometry = MakeGeometry(call.shape, call.x.desc, 1);
  const GroupGeometry& geometry = plan.geometry;
  if (!HasData(geometry)) return plan;
  ScratchPlan scratch;
  plan.gamma = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  plan.beta = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  if (geometry.split) {
    const bool sums = call.kind != NormKind::kFixed;
    plan.pieces = scratch.Take(sums ? geometry.groups() * NumPieces(geometry.group_elements()) : 0,
                               3 * sizeof(double));
    plan.moments = scratch.Take(geometry.groups(), 2 * sizeof(double));
  }
  plan.bytes = scratch.bytes();
  return plan;
}

NormGradientPlan PlanNormGradient(const NormGradientCall& call) {
  NormGradientPlan plan;
  plan.geometry = MakeGeometry(call.shape, call.x.desc, 2);
  plan.wants_input = call.dx.given();
  plan.wants_gamma = call.dgamma.given();
  plan.wants_beta = call.dbeta.given();
  const GroupGeometry& geometry = plan.geometry;
  if (!HasData(geometry)) return plan;
  ScratchPlan scratch;
  if (plan.wants_input) plan.gamma = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  int64_t terms = geometry.rows();
  size_t term_bytes = sizeof(double);
  if (geometry.flat) {
    CutFlat(plan);
    terms = plan.batch_chunks() * geometry.c * geometry.hw;
    term_bytes = sizeof(float);
  }
  if (plan.wants_gamma) plan.gamma_terms = scratch.Take(terms, term_bytes);
  if (plan.wants_beta) plan.beta_terms = scratch.Take(terms, term_bytes);
  if (geometry.split) {
    const int64_t pieces = geometry.flat ? geometry.groups() * NumPieces(geometry.group_elements())
                                         : geometry.rows() * NumPieces(geometry.hw);
    plan.pieces = scratch.Take(pieces, 2 * sizeof(double));
    plan.coefficients = scratch.Take(geometry.groups(), 3 * sizeof(double));
  }
  plan.bytes = scratch.bytes();
  return plan;
}

}  // namespace opserve::cpu
