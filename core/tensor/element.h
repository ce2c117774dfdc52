// One element at a time: numbers in and out of any dtype, with range checks. For literals, JSON and
// printing; kernels have their own loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "core/tensor/dtype.h"

namespace opserve {

// A number as people write it.
using Number = std::variant<bool, int64_t, uint64_t, double>;

// Writes `number` as an element of `dtype` to `element` (DTypeSize bytes, any alignment). Floating
// dtypes round to nearest even, once; a float in an integer dtype, or a number outside the dtype's
// range, is an error (161002 without a parameter). bool takes bools, 0 and 1.
absl::Status StoreElement(DType dtype, const Number& number, std::byte* element);

// Reads an element: floating dtypes as double, signed as int64, unsigned as uint64, bool as bool.
// All exact.
Number LoadElement(DType dtype, const std::byte* element);

// The element as double; integers beyond 2^53 round.
double LoadAsDouble(DType dtype, const std::byte* element);

// Shortest text that reads back to the same element: "-1", "0.1", "nan", "inf", "true".
std::string ElementToString(DType dtype, const std::byte* element);

}  // namespace opserve
