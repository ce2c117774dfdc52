#include "server/codec/attribute_codec.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace opserve::server {
namespace {

struct EncodeValue {
  v1::Attribute& out;
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { out.set_int_value(value); }
  void operator()(double value) const { out.set_float_value(value); }
  void operator()(bool value) const { out.set_bool_value(value); }
  void operator()(const std::vector<int64_t>& list) const {
    out.mutable_int_list();
    for (const int64_t value : list) out.mutable_int_list()->add_values(value);
  }
  void operator()(const std::vector<bool>& list) const {
    out.mutable_bool_list();
    for (const bool value : list) out.mutable_bool_list()->add_values(value);
  }
  void operator()(const std::vector<double>& list) const {
    out.mutable_float_list();
    for (const double value : list) out.mutable_float_list()->add_values(value);
  }
  void operator()(const std::string& text) const { out.set_string_value(text); }
};

template <typename List>
auto Copy(const List& list) {
  using Element = std::decay_t<decltype(list.values(0))>;
  return std::vector<Element>(list.values().begin(), list.values().end());
}

}  // namespace

AttributeValue DecodeAttribute(const v1::Attribute& attribute) {
  switch (attribute.value_case()) {
    case v1::Attribute::kIntValue:
      return int64_t{attribute.int_value()};
    case v1::Attribute::kFloatValue:
      return attribute.float_value();
    case v1::Attribute::kBoolValue:
      return attribute.bool_value();
    case v1::Attribute::kIntList:
      return Copy(attribute.int_list());
    case v1::Attribute::kBoolList:
      return Copy(attribute.bool_list());
    case v1::Attribute::kFloatList:
      return Copy(attribute.float_list());
    case v1::Attribute::kStringValue:
      return attribute.string_value();
    case v1::Attribute::VALUE_NOT_SET:
      break;
  }
  return std::monostate();  // binding refuses it
}

void EncodeAttribute(const AttributeValue& value, v1::Attribute& out) {
  std::visit(EncodeValue{out}, value);
}

}  // namespace opserve::server
