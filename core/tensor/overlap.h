// Whether views of one memory share bytes.
#pragma once

#include <cstdint>

#include "core/tensor/tensor_desc.h"

namespace opserve {

// A view of memory whose storage starts at byte `start_bytes` of it. CheckDesc accepted `desc`, and
// the view's end fits int64.
struct PlacedTensor {
  const TensorDesc& desc;
  int64_t start_bytes = 0;
};

// False: no element of `a` shares a byte with one of `b`. True for all that do, and for some that
// interleave in a way that slicing one tensor does not make (blocks of columns, of channels, every
// n-th element are told apart).
bool MayOverlap(const PlacedTensor& a, const PlacedTensor& b);

}  // namespace opserve
