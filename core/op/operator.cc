#include "core/op/operator.h"

#include <vector>

namespace opserve {
namespace {

template <typename Param>
int Find(std::span<const Param> params, std::string_view name) {
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

AttributeValue AttributeDefault::ToValue() const {
  switch (kind) {
    case Kind::kInt:
      return int_value;
    case Kind::kFloat:
      return float_value;
    case Kind::kBool:
      return bool_value;
    case Kind::kBoolList:
      return std::vector<bool>(bool_list.begin(), bool_list.end());
    case Kind::kNone:
      break;
  }
  return std::monostate();
}

int Operator::FindInput(std::string_view input) const { return Find(inputs, input); }
int Operator::FindAttribute(std::string_view attribute) const {
  return Find(attributes, attribute);
}
int Operator::FindOutput(std::string_view output) const { return Find(outputs, output); }

}  // namespace opserve
