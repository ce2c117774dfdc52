#include "core/op/attribute.h"

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"

namespace opserve {
namespace {

template <typename T>
bool ReplaceEmptyList(AttributeValue& value) {
  const auto empty = [&value]<typename U>(std::vector<U>*) {
    const auto* list = std::get_if<std::vector<U>>(&value);
    return list != nullptr && list->empty();
  };
  if (std::holds_alternative<std::vector<T>>(value)) return true;
  if (!empty(static_cast<std::vector<int64_t>*>(nullptr)) &&
      !empty(static_cast<std::vector<bool>*>(nullptr)) &&
      !empty(static_cast<std::vector<double>*>(nullptr))) {
    return false;
  }
  value = std::vector<T>();
  return true;
}

bool ConvertToDouble(AttributeValue& value) {
  if (std::holds_alternative<double>(value)) return true;
  if (const int64_t* number = std::get_if<int64_t>(&value)) {
    value = static_cast<double>(*number);
    return true;
  }
  return false;
}

}  // namespace

const char* AttributeKindInWords(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "an int";
    case AttributeKind::kFloat:
      return "a float";
    case AttributeKind::kBool:
      return "a bool";
    case AttributeKind::kIntList:
      return "a list of ints";
    case AttributeKind::kBoolList:
      return "a list of bools";
    case AttributeKind::kScalar:
      return "a real scalar";
  }
  return "";
}

std::string AttributeInWords(const AttributeValue& value) {
  struct Words {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(int64_t number) const { return absl::StrCat("the int ", number); }
    std::string operator()(double number) const { return absl::StrCat("the float ", number); }
    std::string operator()(bool truth) const { return truth ? "the bool true" : "the bool false"; }
    std::string operator()(const std::vector<int64_t>& list) const {
      return absl::StrCat("a list of ", list.size(), " ints");
    }
    std::string operator()(const std::vector<bool>& list) const {
      return absl::StrCat("a list of ", list.size(), " bools");
    }
    std::string operator()(const std::vector<double>& list) const {
      return absl::StrCat("a list of ", list.size(), " floats");
    }
    std::string operator()(const std::string& text) const {
      return absl::StrCat("the string ", Quoted(text));
    }
  };
  return std::visit(Words(), value);
}

bool ConvertAttribute(AttributeKind kind, AttributeValue& value) {
  switch (kind) {
    case AttributeKind::kInt:
      return std::holds_alternative<int64_t>(value);
    case AttributeKind::kFloat:
      return ConvertToDouble(value);
    case AttributeKind::kBool:
      return std::holds_alternative<bool>(value);
    case AttributeKind::kIntList:
      return ReplaceEmptyList<int64_t>(value);
    case AttributeKind::kBoolList:
      return ReplaceEmptyList<bool>(value);
    case AttributeKind::kScalar:
      if (const bool* truth = std::get_if<bool>(&value)) value = *truth ? 1.0 : 0.0;
      return ConvertToDouble(value);
  }
  return false;
}

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

}  // namespace opserve
