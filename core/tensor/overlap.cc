#include "core/tensor/overlap.h"

#include <algorithm>
#include <numeric>

namespace opserve {
namespace {

// A view in bytes: where it starts and the steps it takes.
struct ByteView {
  struct Step {
    int64_t stride;
    int64_t extent;
  };

  explicit ByteView(const PlacedTensor& tensor) {
    element_bytes = static_cast<int64_t>(DTypeSize(tensor.desc.dtype));
    empty = tensor.desc.num_elements() == 0;
    if (empty) return;
    first = tensor.start_bytes + tensor.desc.storage_offset * element_bytes;
    end = tensor.start_bytes + tensor.desc.reach_bytes();
    for (size_t i = 0; i < tensor.desc.shape.size(); ++i) {
      const int64_t stride = tensor.desc.strides[i];
      if (tensor.desc.shape[i] > 1 && stride > 0)
        steps.push_back({stride * element_bytes, tensor.desc.shape[i]});
    }
  }

  // Bytes from an element to the end of the last that is reached by steps shorter than `period`.
  int64_t ReachWithin(int64_t period) const {
    int64_t reach = element_bytes;
    for (const Step& step : steps) {
      if (step.stride < period) reach += step.stride * (step.extent - 1);
    }
    return reach;
  }

  int64_t element_bytes = 0;
  bool empty = true;
  int64_t first = 0;
  int64_t end = 0;
  absl::InlinedVector<Step, kMaxRank> steps;
};

// Greatest common divisor of all steps of at least `threshold`.
int64_t PeriodOf(const ByteView& a, const ByteView& b, int64_t threshold) {
  int64_t period = 0;
  for (const ByteView* view : {&a, &b}) {
    for (const ByteView::Step& step : view->steps) {
      if (step.stride >= threshold) period = std::gcd(period, step.stride);
    }
  }
  return period;
}

// Both repeat with a period, the long steps being multiples of it: they are apart when what the
// short steps reach is apart within one period.
bool AreApartWithin(const ByteView& a, const ByteView& b, int64_t threshold) {
  const int64_t period = PeriodOf(a, b, threshold);
  const int64_t a_reach = a.ReachWithin(threshold);
  const int64_t b_reach = b.ReachWithin(threshold);
  // From a's start to b's, in [0, period).
  const int64_t gap = ((b.first - a.first) % period + period) % period;
  return gap >= a_reach && gap + b_reach <= period;
}

}  // namespace

bool MayOverlap(const PlacedTensor& a, const PlacedTensor& b) {
  const ByteView first(a);
  const ByteView second(b);
  if (first.empty || second.empty) return false;
  if (first.end <= second.first || second.end <= first.first) return false;
  for (const ByteView* view : {&first, &second}) {
    for (const ByteView::Step& step : view->steps) {
      if (AreApartWithin(first, second, step.stride)) return false;
    }
  }
  return true;
}

}  // namespace opserve
