#include "tests/accuracy/aten_call.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace opserve::testing {
namespace {

struct ValueOf {
  c10::IValue operator()(std::monostate /*none*/) const { return {}; }
  c10::IValue operator()(int64_t value) const { return value; }
  c10::IValue operator()(double value) const { return value; }
  c10::IValue operator()(bool value) const { return value; }
  c10::IValue operator()(const std::vector<int64_t>& values) const { return values; }
  c10::IValue operator()(const std::vector<double>& values) const { return values; }
  c10::IValue operator()(const std::string& value) const { return value; }
  c10::IValue operator()(const std::vector<bool>& values) const {
    c10::List<bool> list;
    for (const bool value : values) list.push_back(value);
    return list;
  }
};

}  // namespace

std::vector<at::Tensor> CallAten(const Operator& op, std::string_view function,
                                 const std::vector<at::Tensor>& inputs,
                                 const std::vector<AttributeValue>& attributes) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(std::string(function), absl::MaxSplits('(', 1));
  const std::vector<std::string> names =
      absl::StrSplit(std::string(absl::StripSuffix(parts.second, ")")), ", ");
  std::vector<c10::IValue> stack;
  for (std::string name : names) {
    // A keyword stands in its place in the stack.
    const bool is_keyword = name.find('=') != std::string::npos;
    name.erase(0, name.find('=') + 1);
    const int input = op.FindInput(name);
    if (name == "False") {
      stack.emplace_back(false);
    } else if (name == "None") {
      stack.emplace_back();
    } else if (name == "dtype") {
      stack.emplace_back(inputs[0].scalar_type());
    } else if (input >= 0) {
      stack.emplace_back(inputs[static_cast<size_t>(input)]);
    } else {
      const auto at = static_cast<size_t>(op.FindAttribute(name));
      AttributeValue value = attributes[at];
      // Choices of keywords go by name.
      for (const AttributeChoice& choice : op.attributes[at].choices) {
        if (is_keyword && value == AttributeValue(choice.value)) value = std::string(choice.name);
      }
      stack.push_back(std::visit(ValueOf(), value));
    }
  }
  // "add.Tensor" is one of the functions called "add".
  const std::pair<std::string, std::string> name = absl::StrSplit(parts.first, '.');
  const c10::OperatorHandle handle = c10::Dispatcher::singleton().findSchemaOrThrow(
      absl::StrCat("aten::", name.first).c_str(), name.second.c_str());
  // Arguments that are left out have their defaults.
  const std::vector<c10::Argument>& arguments = handle.schema().arguments();
  for (size_t i = stack.size(); i < arguments.size(); ++i)
    stack.push_back(arguments[i].default_value().value());
  handle.callBoxed(&stack);
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& value : stack) outputs.push_back(value.toTensor());
  return outputs;
}

}  // namespace opserve::testing
