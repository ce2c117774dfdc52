#include "core/tensor/shape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace opserve {

Dims DenseStrides(std::span<const int64_t> shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i) {
    // An empty tensor's strides are never followed: they only need to stay in range.
    if (__builtin_mul_overflow(strides[i - 1], std::max<int64_t>(shape[i - 1], 1), &strides[i - 2]))
      strides[i - 2] = 1;
  }
  return strides;
}

std::optional<Dims> BroadcastShapes(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims shape(a.begin(), a.end());
  if (SameShape(a, b)) return shape;
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& extent = shape[shift + i];
    if (extent == b[i] || b[i] == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = b[i];
  }
  return shape;
}

bool BroadcastsTo(std::span<const int64_t> from, std::span<const int64_t> to) {
  const std::optional<Dims> shape = BroadcastShapes(from, to);
  return shape.has_value() && SameShape(*shape, to);
}

std::string ShapeToString(std::span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace opserve
