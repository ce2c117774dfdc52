#include "server/open_inference/parameter_value.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

using inference::InferParameter;

std::string_view Trim(std::string_view text) {
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(text)));
}

// The whole of a text.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(text));
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  return std::nullopt;
}

std::vector<std::string_view> SplitList(std::string_view text) {
  if (text.size() >= 2 && text.starts_with('[') && text.ends_with(']'))
    text = Trim(text.substr(1, text.size() - 2));
  std::vector<std::string_view> items;
  if (text.empty()) return items;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    items.push_back(Trim(text.substr(start, end - start)));
    start = end + 1;
  }
  return items;
}

template <typename List, typename Parse>
bool ReadList(std::string_view text, Parse parse, List& list) {
  for (const std::string_view item : SplitList(text)) {
    const auto value = parse(item);
    if (!value.has_value()) return false;
    list.add_values(*value);
  }
  return true;
}

// False when it is no text of that kind.
bool ReadText(std::string_view text, const AttributeParam& param, v1::Attribute& out) {
  switch (param.kind) {
    case AttributeKind::kInt:
      if (const auto number = ParseNumber<int64_t>(text)) return out.set_int_value(*number), true;
      // Binding knows the choices by name, and says which is nearest.
      if (!param.choices.empty()) out.set_string_value(std::string(text));
      return !param.choices.empty();
    case AttributeKind::kScalar:
    case AttributeKind::kFloat:
      if (const auto number = ParseNumber<double>(text)) return out.set_float_value(*number), true;
      return false;
    case AttributeKind::kBool:
      if (const auto truth = ParseBool(text)) return out.set_bool_value(*truth), true;
      return false;
    case AttributeKind::kIntList:
      return ReadList(text, &ParseNumber<int64_t>, *out.mutable_int_list());
    case AttributeKind::kBoolList:
      return ReadList(text, &ParseBool, *out.mutable_bool_list());
  }
  return false;
}

absl::Status TooLarge(std::string_view name, uint64_t value) {
  return OutOfRange(name, "an int below 2^63", absl::StrCat(value));
}

std::string ValueInWords(const AttributeValue& value) {
  struct Words {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(int64_t number) const { return absl::StrCat(number); }
    std::string operator()(double number) const { return absl::StrCat(number); }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<bool>& list) const {
      std::vector<std::string> items;
      items.reserve(list.size());
      for (const bool truth : list) items.emplace_back(truth ? "true" : "false");
      return absl::StrCat("[", absl::StrJoin(items, ","), "]");
    }
    std::string operator()(const std::vector<int64_t>& list) const {
      return absl::StrCat("[", absl::StrJoin(list, ","), "]");
    }
    std::string operator()(const std::vector<double>& list) const {
      return absl::StrCat("[", absl::StrJoin(list, ","), "]");
    }
  };
  return std::visit(Words(), value);
}

}  // namespace

absl::StatusOr<v1::Attribute> DecodeParameter(const InferParameter& value,
                                              const AttributeParam& param) {
  v1::Attribute out;
  out.set_name(std::string(param.name));
  switch (value.parameter_choice_case()) {
    case InferParameter::kBoolParam:
      out.set_bool_value(value.bool_param());
      break;
    case InferParameter::kInt64Param:
      out.set_int_value(value.int64_param());
      break;
    case InferParameter::kDoubleParam:
      out.set_float_value(value.double_param());
      break;
    case InferParameter::kUint64Param:
      if (!std::in_range<int64_t>(value.uint64_param()))
        return TooLarge(param.name, value.uint64_param());
      out.set_int_value(static_cast<int64_t>(value.uint64_param()));
      break;
    case InferParameter::kStringParam:
      if (!ReadText(Trim(value.string_param()), param, out)) {
        return InvalidParameter(param.name, AttributeKindInWords(param.kind),
                                Quoted(value.string_param()));
      }
      break;
    case InferParameter::PARAMETER_CHOICE_NOT_SET:
      break;  // binding refuses it
  }
  return out;
}

absl::StatusOr<int64_t> IntegerOf(std::string_view name, const InferParameter& value) {
  switch (value.parameter_choice_case()) {
    case InferParameter::kInt64Param:
      return int64_t{value.int64_param()};
    case InferParameter::kUint64Param:
      if (std::in_range<int64_t>(value.uint64_param()))
        return static_cast<int64_t>(value.uint64_param());
      return TooLarge(name, value.uint64_param());
    case InferParameter::kStringParam:
      if (const auto number = ParseNumber<int64_t>(Trim(value.string_param()))) return *number;
      return InvalidParameter(name, "an int", Quoted(value.string_param()));
    default:
      return InvalidParameter(name, "an int", "another value");
  }
}

std::string DescribeAttribute(const AttributeParam& param) {
  std::string words = AttributeKindInWords(param.kind);
  if (!param.choices.empty()) absl::StrAppend(&words, ", ", ChoicesInWords(param.choices));
  if (param.range.has_value()) absl::StrAppend(&words, ", ", RangeInWords(*param.range));
  if (param.list_length > 0) absl::StrAppend(&words, ", ", param.list_length, " elements");
  const AttributeValue value = param.default_value.ToValue();
  absl::StrAppend(&words, ", ",
                  IsGiven(value) ? absl::StrCat("default ", ValueInWords(value)) : "required");
  return words;
}

}  // namespace opserve::server
