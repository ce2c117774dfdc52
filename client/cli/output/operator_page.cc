#include "client/cli/output/operator_page.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/output/attribute_text.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using client::AttributeKind;
using client::AttributeParameter;
using client::OperatorSchema;
using client::TensorParameter;

constexpr size_t kWidth = 80;
constexpr size_t kIndent = 4;
// Names that are longer stick out of their column.
constexpr size_t kMaxColumn = 32;

// The words in lines of at most kWidth columns behind `indent` blanks; lines after the first are
// indented by `hang` more. Words longer than a line stay whole.
void AppendWords(const std::vector<std::string>& words, size_t indent, size_t hang,
                 std::string& page) {
  std::string line(indent, ' ');
  size_t start = line.size();
  for (const std::string& word : words) {
    if (line.size() > start && line.size() + 1 + word.size() > kWidth) {
      absl::StrAppend(&page, line, "\n");
      line.assign(indent + hang, ' ');
      start = line.size();
    }
    absl::StrAppend(&line, line.size() > start ? " " : "", word);
  }
  absl::StrAppend(&page, line, "\n");
}

// Keeps `text`'s own line breaks.
void AppendWrapped(std::string_view text, size_t indent, size_t hang, std::string& page) {
  for (const absl::string_view paragraph : absl::StrSplit(ToAbsl(text), '\n')) {
    AppendWords(absl::StrSplit(paragraph, ' ', absl::SkipEmpty()), indent, hang, page);
  }
}

std::string DTypesText(const std::vector<DType>& dtypes) {
  return absl::StrJoin(dtypes, ", ",
                       [](std::string* out, DType dtype) { out->append(DTypeName(dtype)); });
}

// A name and the lines about it, beside it.
struct Row {
  std::string name;
  std::vector<std::string> lines;
};

void AppendRows(std::string_view title, const std::vector<Row>& rows, std::string& page) {
  if (rows.empty()) return;
  absl::StrAppend(&page, "\n", ToAbsl(title), "\n");
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, std::min(row.name.size(), kMaxColumn) + 2);
  for (const Row& row : rows) {
    std::string text;
    for (const std::string& line : row.lines) AppendWrapped(line, kIndent + width, 0, text);
    text.replace(kIndent, std::min(row.name.size(), width - 2), row.name);
    page.append(text);
  }
}

std::vector<Row> TensorRows(const std::vector<TensorParameter>& parameters) {
  std::vector<Row> rows;
  for (const TensorParameter& parameter : parameters) {
    Row row = {parameter.name,
               {absl::StrCat(parameter.summary, parameter.optional ? " (optional)" : "")}};
    if (!parameter.shape.empty()) row.lines.push_back(absl::StrCat("shape: ", parameter.shape));
    if (!parameter.dtypes.empty())
      row.lines.push_back(absl::StrCat("dtype: ", DTypesText(parameter.dtypes)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> AttributeRows(const std::vector<AttributeParameter>& attributes) {
  std::vector<Row> rows;
  for (const AttributeParameter& attribute : attributes) {
    std::vector<std::string> words = {std::string(KindText(attribute.kind))};
    const std::string allowed = AllowedText(attribute);
    if (!allowed.empty() && attribute.choices.empty()) words.push_back(allowed);
    words.push_back(attribute.default_value.has_value()
                        ? absl::StrCat("default ", ValueText(attribute, *attribute.default_value))
                        : "required");
    Row row = {attribute.name, {attribute.summary, absl::StrJoin(words, ", ")}};
    for (const client::AttributeChoice& choice : attribute.choices) {
      row.lines.push_back(absl::StrCat(choice.value, " ", choice.name,
                                       choice.summary.empty() ? "" : ": ", choice.summary));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> ProfileRows(const OperatorSchema& schema) {
  std::vector<Row> rows;
  for (const client::ProfileSupport& support : schema.support)
    rows.push_back({support.profile, {DTypesText(support.dtypes)}});
  return rows;
}

void AppendGradient(const OperatorSchema& schema, std::string& page) {
  if (!schema.gradient.has_value()) return;
  std::vector<Row> rows;
  for (const GradientLine& line : GradientLines(*schema.gradient))
    rows.push_back({line.name, {line.meaning}});
  AppendRows(absl::StrCat("GRADIENT, BY ", schema.gradient->op), rows, page);
}

// "INT", "LIST_OF_BOOLS", "none|mean|sum".
std::string Placeholder(const AttributeParameter& attribute) {
  if (!attribute.choices.empty()) {
    return absl::StrJoin(
        attribute.choices, "|",
        [](std::string* out, const client::AttributeChoice& choice) { out->append(choice.name); });
  }
  std::string text = absl::AsciiStrToUpper(ToAbsl(KindText(attribute.kind)));
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

void AppendSynopsis(const OperatorSchema& schema, size_t indent, std::string& page) {
  std::vector<std::string> words = {"opserve", "run", schema.name};
  for (const TensorParameter& input : schema.inputs) {
    const std::string text = absl::StrCat("-i ", input.name, "=VALUE");
    words.push_back(input.optional ? absl::StrCat("[", text, "]") : text);
  }
  for (const AttributeParameter& attribute : schema.attributes) {
    const std::string text = absl::StrCat("-a ", attribute.name, "=", Placeholder(attribute));
    words.push_back(attribute.default_value.has_value() ? absl::StrCat("[", text, "]") : text);
  }
  AppendWords(words, indent, kIndent, page);
}

// A value that can be typed as it stands where any shape will do, a file elsewhere.
std::string ExampleInput(const TensorParameter& input) {
  const bool any_shape = absl::StrContains(input.shape, "broadcast") && !input.dtypes.empty();
  if (!any_shape) return absl::StrCat(input.name, "=", input.name, ".npy");
  return absl::StrCat("'", input.name, "=", ToAbsl(DTypeShortName(input.dtypes.front())),
                      "[4,2]=1'");
}

std::string ExampleValue(const AttributeParameter& attribute) {
  if (attribute.default_value.has_value()) return ValueText(attribute, *attribute.default_value);
  if (!attribute.choices.empty()) return attribute.choices.front().name;
  switch (attribute.kind) {
    case AttributeKind::kBool:
      return "true";
    case AttributeKind::kBoolList:
      return "[true]";
    case AttributeKind::kIntList:
      return "[1]";
    default:
      return "1";
  }
}

void AppendExample(const OperatorSchema& schema, std::string& page) {
  std::vector<std::string> words = {"opserve", "run", schema.name};
  for (const TensorParameter& input : schema.inputs)
    words.push_back(absl::StrCat("-i ", ExampleInput(input)));
  for (const AttributeParameter& attribute : schema.attributes) {
    words.push_back(absl::StrCat("-a ", attribute.name, "=", ExampleValue(attribute)));
  }
  page.append("\nEXAMPLE\n    ");
  // One line, to be copied.
  absl::StrAppend(&page, absl::StrJoin(words, " "), "\n");
}

}  // namespace

std::string WrappedText(std::string_view text) {
  std::string wrapped;
  AppendWrapped(text, 0, 0, wrapped);
  return wrapped;
}

std::vector<GradientLine> GradientLines(const client::Gradient& gradient) {
  using Source = client::GradientInput::Source;
  std::vector<GradientLine> lines;
  for (const client::GradientInput& input : gradient.inputs) {
    const char* const what = input.source == Source::kInput    ? "the input "
                             : input.source == Source::kOutput ? "the output "
                             : input.source == Source::kOutputGradient
                                 ? "the gradient that comes in for "
                                 : "what this client does not know";
    lines.push_back({input.name, absl::StrCat("takes ", what, input.origin)});
  }
  for (const client::GradientAttribute& attribute : gradient.attributes) {
    lines.push_back(
        {attribute.name, attribute.value.has_value()
                             ? absl::StrCat("is ", AttributeText(*attribute.value))
                             : absl::StrCat("has the value of the attribute ", attribute.origin)});
  }
  for (const client::GradientOutput& output : gradient.outputs)
    lines.push_back({output.name, absl::StrCat("gives the gradient of ", output.input)});
  if (!gradient.output_mask.empty())
    lines.push_back({gradient.output_mask, "says which of them to compute"});
  return lines;
}

std::string OperatorSynopsis(const OperatorSchema& schema) {
  std::string synopsis;
  AppendSynopsis(schema, 0, synopsis);
  return synopsis;
}

std::string OperatorList(std::span<const OperatorSchema> schemas) {
  size_t width = 0;
  for (const OperatorSchema& schema : schemas)
    width = std::max(width, std::min(schema.name.size(), kMaxColumn));
  std::string text;
  std::string_view family;
  for (const OperatorSchema& schema : schemas) {
    if (schema.family != family) {
      family = schema.family;
      absl::StrAppend(&text, text.empty() ? "" : "\n", schema.family, "\n");
    }
    const size_t gap = width - std::min(schema.name.size(), width) + 2;
    absl::StrAppend(&text, std::string(family.empty() ? 0 : 2, ' '), schema.name,
                    std::string(gap, ' '), schema.summary, "\n");
  }
  return text;
}

std::string OperatorPage(const OperatorSchema& schema) {
  std::string page = "NAME\n";
  AppendWrapped(absl::StrCat(schema.name, " - ", schema.summary), kIndent, kIndent, page);
  page.append("\nSYNOPSIS\n");
  AppendSynopsis(schema, kIndent, page);
  if (!schema.description.empty()) {
    page.append("\nDESCRIPTION\n");
    AppendWrapped(schema.description, kIndent, 0, page);
  }
  AppendRows("INPUTS", TensorRows(schema.inputs), page);
  AppendRows("ATTRIBUTES", AttributeRows(schema.attributes), page);
  AppendRows("OUTPUTS", TensorRows(schema.outputs), page);
  AppendGradient(schema, page);
  AppendRows("PROFILES", ProfileRows(schema), page);
  if (schema.streams_in_chunks) page.append("\nSTREAMS IN CHUNKS\n    yes\n");
  AppendExample(schema, page);
  return page;
}

}  // namespace opserve::cli
