#include "core/backends/cpu/group_norm_plan.h"

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

// Attributes 0 to 3 are N, C, HxW and group; `tensors` of the data's size are read. Inference has
// seen to it that the element count of the data fits int64.
GroupGeometry MakeGeometry(const OpCall& call, int64_t tensors) {
  GroupGeometry geometry;
  geometry.n = call.attribute<int64_t>(0);
  geometry.c = call.attribute<int64_t>(1);
  geometry.hw = call.attribute<int64_t>(2);
  geometry.group = call.attribute<int64_t>(3);
  geometry.channels = geometry.c / geometry.group;
  // Without data there is no work to cut, and the other products need not fit.
  const int64_t elements = call.input(0).num_elements();
  if (elements == 0) return geometry;
  const auto element_bytes = static_cast<int64_t>(DTypeSize(call.input(0).dtype));
  const bool too_large = geometry.group_elements() > kGroupCacheBytes / (tensors * element_bytes);
  const bool too_few = geometry.groups() < kMinGroups && elements >= kMinSplitElements;
  geometry.flat = geometry.hw < kFlatRow;
  geometry.split = too_large || too_few;
  return geometry;
}

bool HasData(const GroupGeometry& geometry) {
  return geometry.n > 0 && geometry.c > 0 && geometry.hw > 0;
}

}  // namespace

GroupNormPlan PlanGroupNorm(const OpCall& call) {
  GroupNormPlan plan;
  plan.geometry = MakeGeometry(call, 1);
  const GroupGeometry& geometry = plan.geometry;
  if (!HasData(geometry)) return plan;
  ScratchPlan scratch;
  plan.gamma = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  plan.beta = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  if (geometry.split) {
    plan.pieces =
        scratch.Take(geometry.groups() * NumPieces(geometry.group_elements()), 3 * sizeof(double));
    plan.moments = scratch.Take(geometry.groups(), 2 * sizeof(double));
  }
  plan.bytes = scratch.bytes();
  return plan;
}

GroupNormBackwardPlan PlanGroupNormBackward(const OpCall& call) {
  GroupNormBackwardPlan plan;
  plan.geometry = MakeGeometry(call, 2);
  plan.wants_input = call.output(0).wanted;
  plan.wants_gamma = call.output(1).wanted;
  plan.wants_beta = call.output(2).wanted;
  const GroupGeometry& geometry = plan.geometry;
  if (!HasData(geometry)) return plan;
  ScratchPlan scratch;
  if (plan.wants_input) plan.gamma = scratch.Take(geometry.c * geometry.repeats(), sizeof(float));
  int64_t terms = geometry.rows();
  size_t term_bytes = sizeof(double);
  if (geometry.flat) {
    plan.groups_of_chunk =
        std::clamp<int64_t>(kFlatElements / geometry.group_elements(), 1, geometry.group);
    const int64_t elements = plan.groups_of_chunk * geometry.group_elements();
    plan.batches_of_chunk = std::clamp(kChunk / elements, kMinFlatBatches, kMaxFlatBatches);
    terms = plan.batch_chunks() * geometry.c * geometry.hw;
    term_bytes = sizeof(float);
  }
  if (plan.wants_gamma) plan.gamma_terms = scratch.Take(terms, term_bytes);
  if (plan.wants_beta) plan.beta_terms = scratch.Take(terms, term_bytes);
  if (geometry.split && !geometry.flat) {
    plan.pieces = scratch.Take(geometry.rows() * NumPieces(geometry.hw), 2 * sizeof(double));
    plan.coefficients = scratch.Take(geometry.groups(), 4 * sizeof(float));
  }
  plan.bytes = scratch.bytes();
  return plan;
}

}  // namespace opserve::cpu
