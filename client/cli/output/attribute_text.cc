#include "client/cli/output/attribute_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/formats/number_text.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "core/tensor/element.h"

namespace opserve::cli {
namespace {

using client::AttributeKind;
using client::AttributeValue;

std::optional<bool> ParseBool(std::string_view text) {
  // As a float's text would be read: "-0" is none of ours.
  const std::optional<Number> number = ParseNumber(text, DType::kFloat64);
  if (!number.has_value()) return std::nullopt;
  if (const bool* flag = std::get_if<bool>(&*number)) return *flag;
  const int64_t* integer = std::get_if<int64_t>(&*number);
  if (integer == nullptr || (*integer != 0 && *integer != 1)) return std::nullopt;
  return *integer == 1;
}

std::optional<double> ParseDouble(std::string_view text) {
  const std::optional<Number> number = ParseNumber(text, DType::kFloat64);
  if (!number.has_value() || std::holds_alternative<bool>(*number)) return std::nullopt;
  return std::visit([](auto value) { return static_cast<double>(value); }, *number);
}

// An int where a float would do as well: "-0" is a float.
std::optional<int64_t> ParseIntOfAny(std::string_view text) {
  const std::optional<Number> number = ParseNumber(text, DType::kFloat64);
  if (!number.has_value() || !std::holds_alternative<int64_t>(*number)) return std::nullopt;
  return std::get<int64_t>(*number);
}

std::vector<std::string_view> SplitList(std::string_view text) {
  text = Trim(text);
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

template <typename T>
std::optional<AttributeValue> Widen(const std::optional<T>& value) {
  if (!value.has_value()) return std::nullopt;
  return AttributeValue(*value);
}

template <typename T>
std::optional<AttributeValue> ParseList(std::string_view text,
                                        std::optional<T> (*parse)(std::string_view)) {
  std::vector<T> values;
  for (const std::string_view item : SplitList(text)) {
    const std::optional<T> value = parse(item);
    if (!value.has_value()) return std::nullopt;
    values.push_back(*value);
  }
  return AttributeValue(std::move(values));
}

std::optional<AttributeValue> ParseScalar(std::string_view text) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(Trim(text)));
  if (lower == "true" || lower == "false") return AttributeValue(lower == "true");
  if (const std::optional<int64_t> integer = ParseIntOfAny(text); integer.has_value())
    return AttributeValue(*integer);
  return Widen(ParseDouble(text));
}

std::optional<AttributeValue> ParseByLook(std::string_view text) {
  const bool list = text.find(',') != std::string_view::npos || Trim(text).starts_with('[');
  if (!list) return ParseScalar(text);
  if (auto ints = ParseList<int64_t>(text, &ParseIntOfAny)) return ints;
  if (auto bools = ParseList<bool>(text, &ParseBool)) return bools;
  return ParseList<double>(text, &ParseDouble);
}

std::optional<AttributeValue> Parse(AttributeKind kind, std::string_view text) {
  switch (kind) {
    case AttributeKind::kInt:
      return Widen(ParseInt64(text));
    case AttributeKind::kFloat:
      return Widen(ParseDouble(text));
    case AttributeKind::kBool:
      return Widen(ParseBool(text));
    case AttributeKind::kIntList:
      return ParseList<int64_t>(text, &ParseInt64);
    case AttributeKind::kBoolList:
      return ParseList<bool>(text, &ParseBool);
    case AttributeKind::kScalar:
      return ParseScalar(text);
    case AttributeKind::kUnknown:
      break;
  }
  return ParseByLook(text);
}

std::string DoubleText(double value) {
  return ElementToString(DType::kFloat64, reinterpret_cast<const std::byte*>(&value));
}

}  // namespace

std::string_view KindText(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "int";
    case AttributeKind::kFloat:
      return "float";
    case AttributeKind::kBool:
      return "bool";
    case AttributeKind::kIntList:
      return "list of ints";
    case AttributeKind::kBoolList:
      return "list of bools";
    case AttributeKind::kScalar:
      return "scalar";
    case AttributeKind::kUnknown:
      break;
  }
  return "value";
}

absl::StatusOr<AttributeValue> ParseAttribute(std::string_view name, AttributeKind kind,
                                              std::string_view text) {
  std::optional<AttributeValue> value = Parse(kind, text);
  if (value.has_value()) return *std::move(value);
  const std::string_view article = kind == AttributeKind::kInt ? "an " : "a ";
  return InvalidParameter(name, absl::StrCat(ToAbsl(article), ToAbsl(KindText(kind))),
                          absl::StrCat("'", ToAbsl(text), "'"));
}

absl::StatusOr<AttributeValue> ParseAttribute(const client::AttributeParameter& attribute,
                                              std::string_view text) {
  if (attribute.choices.empty() || ParseInt64(text).has_value())
    return ParseAttribute(attribute.name, attribute.kind, text);
  std::vector<std::string> names;
  for (const client::AttributeChoice& choice : attribute.choices) {
    if (choice.name == text) return AttributeValue(choice.name);
    names.push_back(choice.name);
  }
  return InvalidParameter(
      attribute.name,
      absl::StrCat("one of ", AllowedText(attribute), DidYouMean(text, names, '\'')),
      absl::StrCat("'", ToAbsl(text), "'"));
}

std::string AllowedText(const client::AttributeParameter& attribute) {
  std::vector<std::string> parts;
  for (const client::AttributeChoice& choice : attribute.choices)
    parts.push_back(absl::StrCat(choice.value, " ", choice.name));
  if (attribute.list_length != 0) parts.push_back(absl::StrCat(attribute.list_length, " elements"));
  const bool is_list =
      attribute.kind == AttributeKind::kIntList || attribute.kind == AttributeKind::kBoolList;
  const std::string each = is_list ? "each " : "";
  const client::AttributeRange range = attribute.range.value_or(client::AttributeRange());
  if (range.minimum.has_value()) {
    parts.push_back(
        absl::StrCat(each, range.minimum_excluded ? "> " : ">= ", DoubleText(*range.minimum)));
  }
  if (range.maximum.has_value()) {
    parts.push_back(
        absl::StrCat(each, range.maximum_excluded ? "< " : "<= ", DoubleText(*range.maximum)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string ValueText(const client::AttributeParameter& attribute, const AttributeValue& value) {
  for (const client::AttributeChoice& choice : attribute.choices) {
    if (value == AttributeValue(choice.value)) return choice.name;
  }
  return AttributeText(value);
}

std::string AttributeText(const AttributeValue& value) {
  struct Writer {
    std::string operator()(const std::string& choice) const { return choice; }
    std::string operator()(int64_t number) const { return absl::StrCat(number); }
    std::string operator()(double number) const { return DoubleText(number); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const std::vector<int64_t>& list) const {
      return absl::StrCat("[", absl::StrJoin(list, ","), "]");
    }
    std::string operator()(const std::vector<bool>& list) const {
      return absl::StrCat(
          "[",
          absl::StrJoin(list, ",",
                        [](std::string* out, bool flag) { out->append(flag ? "true" : "false"); }),
          "]");
    }
    std::string operator()(const std::vector<double>& list) const {
      return absl::StrCat(
          "[",
          absl::StrJoin(list, ",",
                        [](std::string* out, double number) { out->append(DoubleText(number)); }),
          "]");
    }
  };
  return std::visit(Writer{}, value);
}

}  // namespace opserve::cli
