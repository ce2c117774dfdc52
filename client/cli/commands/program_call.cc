#include "client/cli/commands/program_call.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/call_texts.h"
#include "client/cli/files/files.h"
#include "client/cli/files/tensor_argument.h"
#include "client/cli/formats/program_text.h"
#include "client/cli/output/attribute_text.h"
#include "client/cli/output/report.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using client::OperatorSchema;
using Schemas = std::map<std::string, OperatorSchema, std::less<>>;

absl::StatusOr<Schemas> FetchSchemas(const ProgramText& text, const Remote& remote) {
  std::set<std::string> names;
  for (const ProgramText::Step& step : text.steps) names.insert(step.op);
  Schemas schemas;
  if (names.empty()) return schemas;
  OPSERVE_ASSIGN_OR_RETURN(
      std::vector<OperatorSchema> fetched,
      remote.client().ListOperators(std::vector<std::string>(names.begin(), names.end()),
                                    remote.options()));
  for (OperatorSchema& schema : fetched) schemas.emplace(schema.name, std::move(schema));
  for (const std::string& name : names) {
    if (!schemas.contains(name))
      return absl::InternalError(
          absl::StrCat("the server's answer: want the operator ", name, ", got none of that name"));
  }
  return schemas;
}

// The parameter of that name; nullptr where there is none.
template <typename Parameter>
const Parameter* Find(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& each) { return each.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

absl::StatusOr<client::Value> ValueOf(const ProgramText::Argument& argument) {
  if (LooksLikeConstant(argument.text)) {
    OPSERVE_ASSIGN_OR_RETURN(client::TensorView view,
                             ReadTensorArgument(argument.name, argument.text, TensorUse::kRun));
    return client::Value::Constant(std::move(view));
  }
  OPSERVE_ASSIGN_OR_RETURN(const ProgramValue text, ParseValue(argument.text));
  const client::Value value(text.name);
  if (!text.has_shape) return value;
  if (!text.has_strides && text.storage_offset == 0) return value.Reshaped(text.shape);
  const Dims strides = text.has_strides ? text.strides : DenseStrides(text.shape);
  return value.Viewed(text.shape, strides, text.storage_offset);
}

absl::Status UnknownArgument(const ProgramText::Argument& argument, const OperatorSchema& schema) {
  std::vector<std::string> names;
  for (const client::TensorParameter& input : schema.inputs) names.push_back(input.name);
  for (const client::AttributeParameter& attribute : schema.attributes)
    names.push_back(attribute.name);
  return UnknownParameter(
      argument.name,
      absl::StrCat("an input or attribute of the operator (", absl::StrJoin(names, ", "), ")",
                   DidYouMean(argument.name, names, '\'')),
      "an unknown name");
}

absl::Status AddStep(const ProgramText::Step& text, const OperatorSchema& schema,
                     client::Program& program) {
  std::vector<std::pair<std::string, client::Value>> inputs;
  std::vector<std::pair<std::string, client::AttributeValue>> attributes;
  for (const ProgramText::Argument& argument : text.arguments) {
    if (Find(schema.inputs, argument.name) != nullptr) {
      OPSERVE_ASSIGN_OR_RETURN(client::Value value, ValueOf(argument));
      inputs.emplace_back(argument.name, std::move(value));
      continue;
    }
    const client::AttributeParameter* const attribute = Find(schema.attributes, argument.name);
    if (attribute == nullptr) return UnknownArgument(argument, schema);
    OPSERVE_ASSIGN_OR_RETURN(client::AttributeValue value,
                             ParseAttribute(*attribute, argument.text));
    attributes.emplace_back(argument.name, std::move(value));
  }
  program.Step(text.name, text.op, std::move(inputs), std::move(attributes));
  return absl::OkStatus();
}

// More text than any message takes.
constexpr size_t kMostProgramBytes = size_t{256} << 20;

// The status with the step's name before the parameter's.
absl::Status InStep(const absl::Status& status, const ProgramText::Step& step) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value()) return status;
  detail->op = step.op;
  detail->parameter =
      absl::StrCat(step.name, detail->parameter.empty() ? "" : ".", detail->parameter);
  return MakeError(*detail);
}

absl::StatusOr<client::Program> ReadProgram(const Arguments& arguments, const Remote& remote) {
  const auto read =
      ReadFile(arguments.op, [](std::span<const std::byte>) { return kMostProgramBytes; });
  if (!read.ok()) return UsageError(read.status());
  if ((*read)->size() > kMostProgramBytes) {
    return UsageError(OutOfRange(
        arguments.op, absl::StrCat("at most ", kMostProgramBytes, " bytes"), "a larger file"));
  }
  absl::StatusOr<ProgramText> text = ParseProgram(**read);
  if (!text.ok()) return UsageError(WithOperator(text.status(), arguments.op));
  if (!arguments.gradient.empty()) {
    absl::StatusOr<ProgramText::Gradient> gradient = ParseGradient(arguments.gradient);
    if (!gradient.ok()) return UsageError(WithOperator(gradient.status(), "--grad"));
    text->gradient = {*std::move(gradient)};
  }
  OPSERVE_ASSIGN_OR_RETURN(const Schemas schemas, FetchSchemas(*text, remote));
  client::Program program;
  for (const ProgramText::Step& step : text->steps) {
    const absl::Status status = AddStep(step, schemas.find(step.op)->second, program);
    if (!status.ok()) return UsageError(InStep(status, step));
  }
  for (const ProgramText::Argument& output : text->outputs)
    program.Output(output.name, output.text);
  for (const ProgramText::Gradient& gradient : text->gradient)
    program.Gradients(gradient.of, gradient.with_respect_to, gradient.seed)
        .MaxWorkspace(gradient.max_workspace_bytes);
  return program;
}

}  // namespace

absl::StatusOr<Callee> FindCallee(const Arguments& arguments, const Remote& remote) {
  Callee callee;
  if (!arguments.is_program) {
    OPSERVE_ASSIGN_OR_RETURN(callee.schema, FetchSchema(arguments.op, remote));
    return callee;
  }
  OPSERVE_ASSIGN_OR_RETURN(callee.program, ReadProgram(arguments, remote));
  callee.schema.name = "Program";
  for (const client::ProgramOutput& output : callee.program->outputs())
    callee.schema.outputs.push_back({.name = output.name});
  if (callee.program->gradients().has_value()) {
    for (const std::string& name : callee.program->gradients()->with_respect_to)
      callee.schema.outputs.push_back({.name = absl::StrCat("grad_", name)});
  }
  return callee;
}

}  // namespace opserve::cli
