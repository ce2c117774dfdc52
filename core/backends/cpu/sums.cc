#include "core/backends/cpu/sums.h"

#include <algorithm>

#include "core/backends/cpu/elementwise.h"
#include "core/backends/cpu/scratch.h"

namespace opserve::cpu {
namespace {

constexpr int64_t kMostColumnSegments = 64;
// Rows that are added as floats first.
constexpr int64_t kRows = 4;

int64_t Parts(int64_t whole, int64_t part) { return whole / part + (whole % part != 0 ? 1 : 0); }

}  // namespace

SumsPlan::SumsPlan(int64_t outer, int64_t terms, int64_t inner)
    : outer_(outer),
      terms_(terms),
      inner_(inner),
      columns_(std::clamp<int64_t>(inner, 1, kColumns)),
      blocks_(Parts(inner, columns_)),
      segment_terms_(kChunk) {
  if (inner > 1) {
    const int64_t terms_of_chunk = std::max(kChunk / columns_, Parts(terms, kMostColumnSegments));
    segment_terms_ = Parts(terms_of_chunk, kRows) * kRows;
  }
  segments_ = std::max<int64_t>(1, Parts(terms, segment_terms_));
}

size_t SumsPlan::bytes() const {
  ScratchPlan scratch;
  if (segments_ > 1) scratch.Take(sums() * segments_, sizeof(double));
  return scratch.bytes();
}

}  // namespace opserve::cpu
