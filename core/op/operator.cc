#include "core/op/operator.h"

#include <vector>

#include "absl/strings/str_cat.h"

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

std::string ChoicesInWords(std::span<const AttributeChoice> choices) {
  std::string words;
  for (size_t i = 0; i < choices.size(); ++i) {
    const char* const between = i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    absl::StrAppend(&words, between, choices[i].value, " (", std::string(choices[i].name), ")");
  }
  return words;
}

std::string RangeInWords(const AttributeRange& range) {
  const char* const above = range.minimum_excluded ? "> " : ">= ";
  const char* const below = range.maximum_excluded ? "< " : "<= ";
  if (range.minimum.has_value() && range.maximum.has_value()) {
    return absl::StrCat("in ", range.minimum_excluded ? "(" : "[", *range.minimum, ", ",
                        *range.maximum, range.maximum_excluded ? ")" : "]");
  }
  if (range.minimum.has_value()) return absl::StrCat(above, *range.minimum);
  if (range.maximum.has_value()) return absl::StrCat(below, *range.maximum);
  return "a number";
}

int Operator::FindInput(std::string_view input) const { return Find(inputs, input); }
int Operator::FindAttribute(std::string_view attribute) const {
  return Find(attributes, attribute);
}
int Operator::FindOutput(std::string_view output) const { return Find(outputs, output); }

}  // namespace opserve
