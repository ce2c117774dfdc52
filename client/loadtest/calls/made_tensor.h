// Inputs that are made up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <opserve/tensor.h>

#include "absl/status/statusor.h"

namespace opserve::loadtest {

// Between which values elements are drawn, both included for integers.
struct ElementRange {
  double low = 0;
  double high = 1;
};

// Floats from -1 to 1, integers and bools 0 or 1.
ElementRange UsualRange(DType dtype);

// A dense tensor of random elements, the same for the same seed. It owns its memory. Errors
// (161002, without a parameter): a shape that is none or that takes more than `max_bytes`, a range
// that the dtype does not hold.
absl::StatusOr<client::TensorView> MakeTensor(DType dtype, std::span<const int64_t> shape,
                                              const ElementRange& range, uint64_t seed,
                                              int64_t max_bytes);

}  // namespace opserve::loadtest
