// Writes docs/operators.md and a page a family beside it, made from the table of operators, and
// docs/metrics.md from that of metrics; with --check says where they differ from them. The schemas
// take the way that ListOperators sends them.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <opserve/schema.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/output/attribute_text.h"
#include "client/cli/output/operator_page.h"
#include "client/cpp/wire/messages.h"
#include "core/base/fragments.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"
#include "core/op/profile.h"
#include "docs/metrics_page.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/codec/schema_codec.h"

namespace opserve::docs {
namespace {

using client::OperatorSchema;

constexpr char kMade[] = "<!-- Made by `build/dev/bin/opserve-docs docs`; do not edit. -->\n\n";

constexpr char kIndexHead[] =
    R"(Each page has a family of operators, each with its formula, inputs, attributes, outputs and gradient, as `opserve ops NAME`
shows it; `opserve ops --search WORD` finds one.
)";

constexpr char kFamilyHead[] =
    R"(Dtypes are in short form: f32 is float32, bf16 bfloat16, i64 int64, b8 bool. A *profile* is what a device accepts
(`--device cpu,profile=atlas-a2`): `host` accepts everything that is here, the others what that product accepts. *Allowed*: a value
that has a name may be given by it. *Gradient*: what its operator takes and gives, in the terms of the one that it is the gradient
of; attributes of one name are the same in both, and what is not said to have a gradient has none. *Streams in chunks*: its
element-wise calls (of a loss: those with reduction none) can be sent as an ExecuteChunkedCommand of a session.

| operator |)";

using Row = std::vector<std::string>;

// Text as a cell of a table, without meaning for Markdown.
std::string Cell(std::string_view text) {
  return absl::StrReplaceAll(
      ToAbsl(text), {{"|", "\\|"}, {"*", "\\*"}, {"<", "\\<"}, {"_", "\\_"}, {"`", "\\`"}});
}

std::string Code(std::string_view text) { return absl::StrCat("`", ToAbsl(text), "`"); }

std::string DTypes(std::span<const DType> dtypes) {
  return absl::StrJoin(dtypes, " ",
                       [](std::string* out, DType dtype) { out->append(DTypeShortName(dtype)); });
}

void AppendRow(const Row& cells, std::string& page) {
  absl::StrAppend(&page, "| ", absl::StrJoin(cells, " | "), " |\n");
}

void AppendTable(std::string_view title, const Row& head, std::span<const Row> rows,
                 std::string& page) {
  if (rows.empty()) return;
  absl::StrAppend(&page, "\n**", ToAbsl(title), "**\n\n");
  AppendRow(head, page);
  AppendRow(Row(head.size(), "---"), page);
  for (const Row& row : rows) AppendRow(row, page);
}

void AppendTensors(std::string_view title, std::span<const client::TensorParameter> parameters,
                   std::string& page) {
  std::vector<Row> rows;
  for (const client::TensorParameter& parameter : parameters) {
    rows.push_back({Code(parameter.name),
                    Cell(absl::StrCat(parameter.summary, parameter.optional ? " (optional)" : "")),
                    Cell(parameter.shape), DTypes(parameter.dtypes)});
  }
  AppendTable(title, {"name", "what", "shape", "dtypes on host"}, rows, page);
}

void AppendAttributes(std::span<const client::AttributeParameter> attributes, std::string& page) {
  std::vector<Row> rows;
  for (const client::AttributeParameter& attribute : attributes) {
    rows.push_back({Code(attribute.name), Cell(attribute.summary),
                    std::string(cli::KindText(attribute.kind)), Cell(cli::AllowedText(attribute)),
                    attribute.default_value.has_value()
                        ? Code(cli::ValueText(attribute, *attribute.default_value))
                        : "required"});
  }
  AppendTable("Attributes", {"name", "what", "type", "allowed", "default"}, rows, page);
}

std::string Link(const std::string& op) {
  return absl::StrCat("[", op, "](#", absl::AsciiStrToLower(op), ")");
}

void AppendGradient(const client::Gradient& gradient, std::string& page) {
  std::vector<Row> rows;
  for (const cli::GradientLine& line : cli::GradientLines(gradient))
    rows.push_back({Code(line.name), Cell(line.meaning)});
  AppendTable(absl::StrCat("Gradient, by ", Link(gradient.op)), {"name", "what"}, rows, page);
}

// Profiles by dtypes. Only dtypes that one of them has.
void AppendSupport(const OperatorSchema& schema, std::string& page) {
  std::vector<DType> dtypes;
  for (const client::ProfileSupport& support : schema.support) {
    for (const DType dtype : support.dtypes) {
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
    }
  }
  Row head = {"profile"};
  for (const DType dtype : dtypes) head.emplace_back(DTypeShortName(dtype));
  std::vector<Row> rows;
  for (const std::string_view profile : ProfileNames()) {
    const auto support = std::find_if(
        schema.support.begin(), schema.support.end(),
        [profile](const client::ProfileSupport& one) { return one.profile == profile; });
    Row row = {std::string(profile)};
    for (const DType dtype : dtypes) {
      const bool runs =
          support != schema.support.end() &&
          std::find(support->dtypes.begin(), support->dtypes.end(), dtype) != support->dtypes.end();
      row.emplace_back(runs ? "yes" : "–");
    }
    rows.push_back(std::move(row));
  }
  AppendTable("Profiles", head, rows, page);
}

void AppendOperator(const OperatorSchema& schema, std::string& page) {
  absl::StrAppend(&page, "\n## ", schema.name, "\n\n", Cell(schema.summary), "\n\n```text\n",
                  cli::OperatorSynopsis(schema), "```\n\n```text\n",
                  cli::WrappedText(schema.description), "```\n");
  AppendTensors("Inputs", schema.inputs, page);
  AppendAttributes(schema.attributes, page);
  AppendTensors("Outputs", schema.outputs, page);
  if (schema.gradient.has_value()) AppendGradient(*schema.gradient, page);
  AppendSupport(schema, page);
  if (schema.streams_in_chunks) page.append("\nStreams in chunks: yes.\n");
}

// Operators by profiles.
void AppendSummary(std::span<const OperatorSchema> schemas, std::string& page) {
  absl::StrAppend(&page, " ",
                  absl::StrJoin(ProfileNames(), " | ",
                                [](std::string* out, std::string_view name) { out->append(name); }),
                  " |\n");
  AppendRow(Row(ProfileNames().size() + 1, "---"), page);
  for (const OperatorSchema& schema : schemas) {
    Row row = {Link(schema.name)};
    for (const std::string_view profile : ProfileNames()) {
      std::string dtypes = "–";
      for (const client::ProfileSupport& support : schema.support) {
        if (support.profile == profile) dtypes = DTypes(support.dtypes);
      }
      row.push_back(std::move(dtypes));
    }
    AppendRow(row, page);
  }
}

// "Along one dimension": "along_one_dimension".
std::string FileOf(std::string_view family) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(ToAbsl(family)), {{" ", "_"}});
}

// Those that follow one another and are of one family.
std::vector<std::span<const OperatorSchema>> ByFamily(std::span<const OperatorSchema> schemas) {
  std::vector<std::span<const OperatorSchema>> families;
  for (size_t begin = 0, end = 0; begin < schemas.size(); begin = end) {
    while (end < schemas.size() && schemas[end].family == schemas[begin].family) ++end;
    families.push_back(schemas.subspan(begin, end - begin));
  }
  return families;
}

std::string FamilyPage(std::span<const OperatorSchema> schemas) {
  std::string page = absl::StrCat("# ", schemas[0].family, "\n\n", kMade, kFamilyHead);
  AppendSummary(schemas, page);
  for (const OperatorSchema& schema : schemas) AppendOperator(schema, page);
  return page;
}

std::string IndexPage(std::span<const std::span<const OperatorSchema>> families) {
  std::string page = absl::StrCat("# Operators\n\n", kMade, kIndexHead);
  for (const std::span<const OperatorSchema> family : families) {
    const std::string file = absl::StrCat("operators/", FileOf(family[0].family), ".md");
    absl::StrAppend(&page, "\n## [", family[0].family, "](", file, ")\n\n");
    AppendRow({"operator", "what"}, page);
    AppendRow({"---", "---"}, page);
    for (const OperatorSchema& schema : family) {
      const std::string place = absl::StrCat(file, "#", absl::AsciiStrToLower(schema.name));
      AppendRow({absl::StrCat("[", schema.name, "](", place, ")"), Cell(schema.summary)}, page);
    }
  }
  return page;
}

// Their texts by their names in docs/.
using Pages = std::map<std::string, std::string>;

absl::StatusOr<Pages> AllPages() {
  v1::ListOperatorsResponse message;
  for (const Operator* op : AllOperators()) *message.add_operators() = server::EncodeSchema(*op);
  const std::string bytes = message.SerializeAsString();
  const Fragments answer(std::as_bytes(std::span(bytes)));
  absl::StatusOr<std::vector<OperatorSchema>> schemas = client::ReadOperators(answer);
  if (!schemas.ok()) return schemas.status();
  const std::vector<std::span<const OperatorSchema>> families = ByFamily(*schemas);
  Pages pages;
  pages["operators.md"] = IndexPage(families);
  for (const std::span<const OperatorSchema> family : families)
    pages[absl::StrCat("operators/", FileOf(family[0].family), ".md")] = FamilyPage(family);
  pages["metrics.md"] = MetricsPage();
  return pages;
}

// Prints the first line in which the file differs.
bool IsSame(const std::string& path, const std::string& page) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string committed = text.str();
  if (committed == page) return true;
  const std::vector<std::string> have = absl::StrSplit(committed, '\n');
  const std::vector<std::string> want = absl::StrSplit(page, '\n');
  size_t line = 0;
  while (line < have.size() && line < want.size() && have[line] == want[line]) ++line;
  const auto at = [line](const std::vector<std::string>& lines) {
    return line < lines.size() ? lines[line].c_str() : "(the end)";
  };
  std::printf("%s:%zu: differs from the table: want\n  %s\ngot\n  %s\n", path.c_str(), line + 1,
              at(want), at(have));
  return false;
}

int Check(const std::string& folder, const Pages& pages) {
  bool same = true;
  for (const auto& [name, page] : pages)
    same = IsSame(absl::StrCat(folder, "/", name), page) && same;
  for (const auto& file : std::filesystem::directory_iterator(absl::StrCat(folder, "/operators"))) {
    const std::string name = absl::StrCat("operators/", file.path().filename().string());
    if (pages.contains(name)) continue;
    std::printf("%s/%s: no family of operators has this page\n", folder.c_str(), name.c_str());
    same = false;
  }
  if (same) return 0;
  std::printf(
      "To make them again: scripts/build dev opserve-docs && build/dev/bin/opserve-docs docs\n");
  return 1;
}

int Write(const std::string& folder, const Pages& pages) {
  std::error_code ignored;
  std::filesystem::create_directories(absl::StrCat(folder, "/operators"), ignored);
  for (const auto& [name, page] : pages) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::ofstream file(path);
    if (file << page << std::flush) continue;
    std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
    return 1;
  }
  return 0;
}

int Main(std::span<char* const> arguments) {
  const bool check = arguments.size() == 3 && std::string_view(arguments[1]) == "--check";
  if (arguments.size() != 2 && !check) {
    std::fputs("Usage: opserve-docs [--check] FOLDER\n", stderr);
    return 2;
  }
  const absl::StatusOr<Pages> pages = AllPages();
  if (!pages.ok()) {
    std::fprintf(stderr, "%s\n", pages.status().ToString().c_str());
    return 1;
  }
  return check ? Check(arguments[2], *pages) : Write(arguments[1], *pages);
}

}  // namespace
}  // namespace opserve::docs

int main(int argc, char** argv) { return opserve::docs::Main({argv, static_cast<size_t>(argc)}); }
