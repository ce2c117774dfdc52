// The dimensions over which a call reduces its input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/op/op_call.h"

namespace opserve {

// Those that attribute 0 names, of input 0; all of them where it names none. The call was checked:
// each lies in the input's rank, or is 0 or -1 for a scalar.
class ReducedDims {
 public:
  explicit ReducedDims(const OpCall& call) {
    const auto& dims = call.attribute<std::vector<int64_t>>(0);
    const int64_t rank = std::max<int64_t>(1, call.input(0).rank());
    if (dims.empty()) reduced_ = ~uint64_t{0};
    for (const int64_t dim : dims)
      reduced_ |= uint64_t{1} << static_cast<uint64_t>(dim < 0 ? dim + rank : dim);
  }

  bool Contains(size_t dim) const { return (reduced_ >> dim & 1) != 0; }

 private:
  uint64_t reduced_ = 0;
};

}  // namespace opserve
