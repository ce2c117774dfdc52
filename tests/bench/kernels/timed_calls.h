// Calls of the operators that are not element-wise, of about 4 Ki and 1 Mi elements, with the
// function of ATen that does the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/op/attribute.h"
#include "core/tensor/shape.h"

namespace opserve::bench {

struct TimedCall {
  std::string_view op;
  std::string label;                       // of its size: "64x64"
  std::vector<Dims> inputs;                // shapes, in schema order
  std::vector<AttributeValue> attributes;  // in schema order; those left out have their defaults
  int64_t classes = 0;                     // inputs of integers are below it
  // As OperatorTest::aten, where that is empty.
  std::string_view aten = {};
};

std::span<const TimedCall> TimedCalls();

}  // namespace opserve::bench
