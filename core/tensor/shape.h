// Shapes and strides: counting without overflow, broadcasting, printing. Lengths are in elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "absl/container/inlined_vector.h"

namespace opserve {

inline constexpr int kMaxRank = 8;

// Extents or strides of up to kMaxRank dimensions, outermost first (longer ones can be held, and
// are refused by checks).
using Dims = absl::InlinedVector<int64_t, kMaxRank>;

// Product of the extents, 1 for rank 0; nullopt when it exceeds int64 (an extent of 0 makes it 0
// whatever the others are). Extents must be >= 0.
inline std::optional<int64_t> NumElements(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  bool overflow = false;
  for (const int64_t extent : shape) {
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
  }
  if (empty) return 0;
  if (overflow) return std::nullopt;
  return count;
}

// Of numbers that are not negative; int64's greatest where it does not fit.
inline int64_t SaturatingProduct(std::initializer_list<int64_t> numbers) {
  int64_t product = 1;
  for (const int64_t number : numbers) {
    if (__builtin_mul_overflow(product, number, &product))
      return std::numeric_limits<int64_t>::max();
  }
  return product;
}

// Strides of a dense row-major tensor. The shape's element count must fit int64.
Dims DenseStrides(std::span<const int64_t> shape);

// NumPy's rule, right-aligned: extents are equal or one of them is 1; nullopt where they are
// neither.
std::optional<Dims> BroadcastShapes(std::span<const int64_t> a, std::span<const int64_t> b);

// Whether `from` can be expanded to exactly `to`.
bool BroadcastsTo(std::span<const int64_t> from, std::span<const int64_t> to);

// "[4, 2]"; "[]" for a scalar.
std::string ShapeToString(std::span<const int64_t> shape);

inline bool SameShape(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace opserve
