#include "client/cli/formats/program_text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/formats/literal.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/tensor/dtype.h"

namespace opserve::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view Stripped(std::string_view text) {
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(text)));
}

// At commas that are in no brackets.
std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    const std::string_view part = Stripped(text.substr(start, i - start));
    if (!part.empty() || i < text.size() || !parts.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

absl::Status BadLine(size_t line, std::string_view want, std::string_view got) {
  return InvalidParameter(absl::StrCat("line ", line), want, Quoted(got));
}

// "name=text"; of what is returned, "name" is its own text.
absl::StatusOr<std::vector<ProgramText::Argument>> ReadArguments(std::string_view text,
                                                                 bool may_be_bare,
                                                                 std::string_view want,
                                                                 size_t line) {
  std::vector<ProgramText::Argument> arguments;
  for (const std::string_view part : SplitAtCommas(text)) {
    const size_t equals = part.find('=');
    const bool is_bare = equals == std::string_view::npos;
    if (part.empty() || equals == 0 || (is_bare && !may_be_bare)) return BadLine(line, want, part);
    const std::string_view name = Stripped(part.substr(0, equals));
    const std::string_view value = is_bare ? name : Stripped(part.substr(equals + 1));
    if (value.empty()) return BadLine(line, want, part);
    arguments.push_back({std::string(name), std::string(value)});
  }
  return arguments;
}

constexpr std::string_view kStepForm = "a step such as h = Addmm(self=b, mat1=x, mat2=w)";

absl::StatusOr<ProgramText::Step> ParseStep(std::string_view text, size_t line) {
  const size_t equals = text.find('=');
  const size_t open = text.find('(');
  if (open == std::string_view::npos || equals > open || text.back() != ')')
    return BadLine(line, kStepForm, text);
  ProgramText::Step step;
  step.name = Stripped(text.substr(0, equals));
  step.op = Stripped(text.substr(equals + 1, open - equals - 1));
  if (step.name.empty() || step.op.empty()) return BadLine(line, kStepForm, text);
  OPSERVE_ASSIGN_OR_RETURN(step.arguments,
                           ReadArguments(text.substr(open + 1, text.size() - open - 2), false,
                                         "arguments such as self=b", line));
  return step;
}

// What follows `word` and a space; nullopt where the line does not begin so.
std::optional<std::string_view> After(std::string_view word, std::string_view text) {
  if (!text.starts_with(word) || text.size() == word.size() ||
      !absl::ascii_isspace(static_cast<unsigned char>(text[word.size()])))
    return std::nullopt;
  return Stripped(text.substr(word.size()));
}

absl::Status ParseLine(std::string_view text, size_t line, ProgramText& program) {
  if (const auto outputs = After("return", text); outputs.has_value()) {
    OPSERVE_ASSIGN_OR_RETURN(
        const std::vector<ProgramText::Argument> added,
        ReadArguments(*outputs, true, "outputs such as loss or y=h.out", line));
    program.outputs.insert(program.outputs.end(), added.begin(), added.end());
    return absl::OkStatus();
  }
  if (const auto gradient = After("gradient", text); gradient.has_value()) {
    if (!program.gradient.empty()) return BadLine(line, "one gradient", text);
    const absl::StatusOr<ProgramText::Gradient> parsed = ParseGradient(*gradient);
    if (!parsed.ok()) return BadLine(line, "a gradient such as loss: w, b", text);
    program.gradient.push_back(*parsed);
    return absl::OkStatus();
  }
  OPSERVE_ASSIGN_OR_RETURN(ProgramText::Step step, ParseStep(text, line));
  program.steps.push_back(std::move(step));
  return absl::OkStatus();
}

absl::StatusOr<ProgramText> ParseLines(std::string_view text) {
  ProgramText program;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view words = text.substr(0, end);
    words = Stripped(words.substr(0, words.find('#')));
    if (!words.empty()) OPSERVE_RETURN_IF_ERROR(ParseLine(words, line, program));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return program;
}

// Texts as they are; numbers, flags and lists as JSON writes them.
std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

absl::Status AddMembers(const Json& of, const char* member,
                        std::vector<ProgramText::Argument>& arguments) {
  if (!of.contains(member)) return absl::OkStatus();
  if (!of[member].is_object())
    return InvalidParameter(member, "an object of names and values", of[member].type_name());
  for (const auto& [name, value] : of[member].items()) arguments.push_back({name, TextOf(value)});
  return absl::OkStatus();
}

absl::StatusOr<std::string> StringIn(const Json& of, const char* member) {
  if (of.is_object() && of.contains(member) && of[member].is_string())
    return of[member].get<std::string>();
  return MissingParameter(member, "a string");
}

absl::StatusOr<ProgramText::Gradient> GradientOfJson(const Json& json) {
  ProgramText::Gradient gradient;
  OPSERVE_ASSIGN_OR_RETURN(gradient.of, StringIn(json, "of"));
  if (json.contains("seed")) {
    OPSERVE_ASSIGN_OR_RETURN(gradient.seed, StringIn(json, "seed"));
  }
  constexpr char kBound[] = "max_workspace_bytes";
  if (json.contains(kBound)) {
    if (!json[kBound].is_number_integer()) return MissingParameter(kBound, "a number of bytes");
    gradient.max_workspace_bytes = json[kBound].get<int64_t>();
  }
  constexpr char kNames[] = "with_respect_to";
  if (!json.contains(kNames) || !json[kNames].is_array())
    return MissingParameter(kNames, "a list of inputs");
  for (const Json& name : json[kNames]) gradient.with_respect_to.push_back(TextOf(name));
  return gradient;
}

absl::StatusOr<ProgramText> ParseJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return InvalidParameter("program", "a JSON object", "what is none");
  ProgramText program;
  if (!json.contains("steps") || !json["steps"].is_array())
    return MissingParameter("steps", "a list of steps");
  for (const Json& entry : json["steps"]) {
    ProgramText::Step& step = program.steps.emplace_back();
    OPSERVE_ASSIGN_OR_RETURN(step.name, StringIn(entry, "name"));
    OPSERVE_ASSIGN_OR_RETURN(step.op, StringIn(entry, "op"));
    OPSERVE_RETURN_IF_ERROR(AddMembers(entry, "inputs", step.arguments));
    OPSERVE_RETURN_IF_ERROR(AddMembers(entry, "attributes", step.arguments));
  }
  OPSERVE_RETURN_IF_ERROR(AddMembers(json, "outputs", program.outputs));
  if (!json.contains("gradient")) return program;
  OPSERVE_ASSIGN_OR_RETURN(ProgramText::Gradient gradient, GradientOfJson(json["gradient"]));
  program.gradient.push_back(std::move(gradient));
  return program;
}

// Takes " seed s" and the like from the end of `text`: what stands behind `word`.
std::optional<std::string_view> TakeBehind(std::string_view word, std::string_view& text) {
  const size_t found = text.find(word);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view behind = Stripped(text.substr(found + word.size()));
  text = text.substr(0, found);
  return behind;
}

// "1,4" into `list`.
bool ReadInts(std::string_view text, Dims& list) {
  for (const std::string_view part : SplitAtCommas(text)) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) return false;
    list.push_back(number);
  }
  return true;
}

// Takes "open…close" from the front of `text`; false where there is none, or numbers are bad.
bool TakeInts(std::string_view open, char close, std::string_view& text, Dims& list) {
  if (!text.starts_with(open)) return false;
  const size_t end = text.find(close);
  if (end == std::string_view::npos) return false;
  if (!ReadInts(text.substr(open.size(), end - open.size()), list)) return false;
  text.remove_prefix(end + 1);
  return true;
}

}  // namespace

absl::StatusOr<ProgramText> ParseProgram(std::string_view text) {
  return Stripped(text).starts_with("{") ? ParseJson(text) : ParseLines(text);
}

absl::StatusOr<ProgramText::Gradient> ParseGradient(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return InvalidParameter("gradient", "VALUE:INPUT,INPUT", Quoted(text));
  ProgramText::Gradient gradient;
  gradient.of = Stripped(text.substr(0, colon));
  std::string_view names = Stripped(text.substr(colon + 1));
  if (const auto bytes = TakeBehind(" within ", names); bytes.has_value()) {
    Dims most;
    if (!ReadInts(*bytes, most) || most.size() != 1)
      return InvalidParameter("gradient", "a number of bytes behind within", Quoted(*bytes));
    gradient.max_workspace_bytes = most[0];
  }
  if (const auto seed = TakeBehind(" seed ", names); seed.has_value()) gradient.seed = *seed;
  for (const std::string_view name : SplitAtCommas(names))
    gradient.with_respect_to.emplace_back(name);
  return gradient;
}

bool LooksLikeConstant(std::string_view text) {
  if (!LooksLikeLiteral(text)) return false;
  const size_t bracket = text.find_first_of("[{");
  return bracket == std::string_view::npos || ParseDType(text.substr(0, bracket)).has_value();
}

absl::StatusOr<ProgramValue> ParseValue(std::string_view text) {
  const auto bad = [text] {
    return InvalidParameter({}, "a value such as x, conv.out or w[4,3].strides(1,4)", Quoted(text));
  };
  ProgramValue value;
  const size_t bracket = text.find('[');
  value.name = text.substr(0, bracket);
  if (value.name.empty()) return bad();
  if (bracket == std::string_view::npos) return value;
  std::string_view rest = text.substr(bracket);
  value.has_shape = true;
  if (!TakeInts("[", ']', rest, value.shape)) return bad();
  value.has_strides = TakeInts(".strides(", ')', rest, value.strides);
  Dims offset;
  if (TakeInts(".offset(", ')', rest, offset)) {
    if (offset.size() != 1) return bad();
    value.storage_offset = offset[0];
  }
  if (!rest.empty()) return bad();
  return value;
}

}  // namespace opserve::cli
