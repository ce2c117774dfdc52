// Numbers as people type them. Locale-independent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/tensor/dtype.h"
#include "core/tensor/element.h"

namespace opserve::cli {

// `text` without blanks around it.
std::string_view Trim(std::string_view text);

// A decimal or 0x integer with an optional sign; nullopt for anything else and for what int64 does
// not hold.
std::optional<int64_t> ParseInt64(std::string_view text);

// A number for an element of `dtype`: true, false, decimal and 0x integers, decimal and hexadecimal
// floats ("1e-3", "0x1.8p3"), nan, inf, infinity, each with an optional sign; any letter case.
// Floats are rounded to nearest even, for float32 straight from the text. nullopt for anything
// else; whether the dtype holds the number is StoreElement's to say.
std::optional<Number> ParseNumber(std::string_view text, DType dtype);

}  // namespace opserve::cli
