// What the mistakes of single operators are made with. Included by own_mistakes.cc and
// layer_mistakes.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"
#include "tests/server/mistakes/malformed_calls.h"

namespace opserve::testing {

inline void AddAttribute(MistakeList& list, std::string_view name, const AttributeValue& value,
                         std::string_view parameter = {}) {
  list.Add(std::string(name) + "_is_" + AttributeInWords(value),
           parameter.empty() ? name : parameter,
           [&](Request& r) { AttributeOf(r, name) = ToAttribute(name, value); });
}

inline void AddShape(MistakeList& list, std::string_view name, const std::vector<int64_t>& shape,
                     std::string_view parameter = {}) {
  list.Add(std::string(name) + "_of_shape_" + ShapeToString(shape),
           parameter.empty() ? name : parameter, [&](Request& r) { Reshape(r, name, shape); });
}

inline void AddDType(MistakeList& list, std::string_view name, DType dtype,
                     std::string_view parameter = {}) {
  list.Add(std::string(name) + "_of_" + std::string(DTypeName(dtype)) + "_beside_others",
           parameter.empty() ? name : parameter, [&](Request& r) { Retype(r, name, dtype); });
}

// Those of operators that are neither element-wise, nor losses of each element, nor the first
// round's.
void AddLayerMistakes(MistakeList& list, const Operator& op);

}  // namespace opserve::testing
