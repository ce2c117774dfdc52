// Attribute values: the parameters of an operator that are not tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace opserve {

enum class AttributeKind : uint8_t { kInt, kFloat, kBool, kIntList, kBoolList, kScalar };

// "an int", "a list of bools", …
const char* AttributeKindInWords(AttributeKind kind);

// monostate = not given. A kScalar is a double (float32 and every int up to 2^53 are exact in it).
// A string is the name of a choice; binding makes the int of it (named_call.h).
using AttributeValue = std::variant<std::monostate, int64_t, double, bool, std::vector<int64_t>,
                                    std::vector<bool>, std::vector<double>, std::string>;

inline bool IsGiven(const AttributeValue& value) {
  return !std::holds_alternative<std::monostate>(value);
}

// What came, in words: "the float 1.5", "a list of 3 ints", "the string \"mean\"".
std::string AttributeInWords(const AttributeValue& value);

// Converts `value` to the form that `kind` has: an int where a float is wanted; an int, a bool or a
// float where a scalar is; an empty list of any kind where a list is. False, and `value` unchanged,
// when it does not fit.
bool ConvertAttribute(AttributeKind kind, AttributeValue& value);

// A value that a schema holds, of an attribute that is left out for one. A constant expression,
// unlike AttributeValue.
struct AttributeDefault {
  enum class Kind : uint8_t { kNone, kInt, kFloat, kBool, kBoolList } kind = Kind::kNone;
  int64_t int_value = 0;
  double float_value = 0;
  bool bool_value = false;
  std::span<const bool> bool_list = {};

  static constexpr AttributeDefault None() { return {}; }
  static constexpr AttributeDefault Int(int64_t value) {
    return {.kind = Kind::kInt, .int_value = value};
  }
  static constexpr AttributeDefault Float(double value) {
    return {.kind = Kind::kFloat, .float_value = value};
  }
  static constexpr AttributeDefault Bool(bool value) {
    return {.kind = Kind::kBool, .bool_value = value};
  }
  static constexpr AttributeDefault BoolList(std::span<const bool> value) {
    return {.kind = Kind::kBoolList, .bool_list = value};
  }

  // monostate for None.
  AttributeValue ToValue() const;
};

}  // namespace opserve
