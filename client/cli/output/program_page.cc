#include "client/cli/output/program_page.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/attribute_text.h"
#include "core/base/strings.h"
#include "core/tensor/element.h"

namespace opserve::cli {
namespace {

// The names that the text has for them: without a first output's, as a step's name is enough.
std::string ViewText(const Dims& shape, const std::optional<Dims>& strides, int64_t offset) {
  std::string text = absl::StrCat("[", absl::StrJoin(shape, ","), "]");
  if (strides.has_value()) absl::StrAppend(&text, ".strides(", absl::StrJoin(*strides, ","), ")");
  if (offset != 0) absl::StrAppend(&text, ".offset(", offset, ")");
  return text;
}

std::string ConstantText(const client::TensorView& view) {
  std::string text =
      absl::StrCat(ToAbsl(DTypeShortName(view.dtype)), "[", absl::StrJoin(view.shape, ","), "]{");
  const size_t size = DTypeSize(view.dtype);
  for (size_t at = 0; size > 0 && at + size <= view.storage.size(); at += size) {
    absl::StrAppend(&text, at == 0 ? "" : ",",
                    ElementToString(view.dtype, view.storage.data() + at));
  }
  text.push_back('}');
  if (!view.strides.empty())
    absl::StrAppend(&text, ".strides(", absl::StrJoin(view.strides, ","), ")");
  if (view.storage_offset != 0) absl::StrAppend(&text, ".offset(", view.storage_offset, ")");
  return text;
}

std::string TextOfValue(const client::Value& value) {
  if (value.name().empty()) return ConstantText(value.constant());
  if (!value.layout().has_value()) return value.name();
  const client::Value::Layout& layout = *value.layout();
  return absl::StrCat(value.name(), ViewText(layout.shape, layout.strides, layout.storage_offset));
}

std::string Node(std::string_view name) { return Quoted(name); }

}  // namespace

std::string ProgramPage(const client::Program& program) {
  std::string text;
  for (const client::ProgramStep& step : program.steps()) {
    std::vector<std::string> arguments;
    for (const auto& [name, value] : step.inputs)
      arguments.push_back(absl::StrCat(name, "=", TextOfValue(value)));
    for (const auto& [name, value] : step.attributes)
      arguments.push_back(absl::StrCat(name, "=", AttributeText(value)));
    absl::StrAppend(&text, step.name, " = ", step.op, "(", absl::StrJoin(arguments, ", "), ")\n");
  }
  std::vector<std::string> outputs;
  for (const client::ProgramOutput& output : program.outputs())
    outputs.push_back(absl::StrCat(output.name, "=", output.value));
  absl::StrAppend(&text, "return ", absl::StrJoin(outputs, ", "), "\n");
  return text;
}

std::string ProgramDot(const client::Program& program) {
  std::string text = "digraph program {\n  rankdir=TB; node [fontname=\"Helvetica\"];\n";
  std::set<std::string, std::less<>> known;
  const auto add = [&](const std::string& name, std::string_view style) {
    if (known.insert(name).second)
      absl::StrAppend(&text, "  ", Node(name), " [", ToAbsl(style), "];\n");
  };
  // The step behind a value; an input of the call where there is none.
  const auto source_of = [&](const std::string& value) {
    std::string step = value.substr(0, value.find('.'));
    add(step, "shape=ellipse");
    return step;
  };
  for (const client::ProgramStep& step : program.steps()) {
    add(step.name,
        absl::StrCat("shape=box, label=", Quoted(absl::StrCat(step.name, "\\n", step.op))));
    for (const auto& [name, value] : step.inputs) {
      if (value.name().empty()) continue;
      const std::string source = source_of(value.name());
      absl::StrAppend(&text, "  ", Node(source), " -> ", Node(step.name), " [label=", Quoted(name),
                      "];\n");
    }
  }
  for (const client::ProgramOutput& output : program.outputs()) {
    const std::string node = absl::StrCat("output ", output.name);
    add(node, absl::StrCat("shape=doublecircle, label=", Quoted(output.name)));
    absl::StrAppend(&text, "  ", Node(source_of(output.value)), " -> ", Node(node), ";\n");
  }
  return text + "}\n";
}

}  // namespace opserve::cli
