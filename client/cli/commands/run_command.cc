#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/call_texts.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/program_call.h"
#include "client/cli/commands/session_run.h"
#include "client/cli/files/files.h"
#include "client/cli/files/tensor_argument.h"
#include "client/cli/formats/npy.h"
#include "client/cli/formats/tensor_text.h"
#include "client/cli/output/json_output.h"
#include "client/cli/output/program_page.h"
#include "client/cli/output/progress.h"
#include "client/cli/output/report.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using client::OperatorSchema;

absl::Status AddInputs(const Arguments& arguments, TensorUse use, client::Call& call) {
  const NamedText* from_stdin = nullptr;
  for (const NamedText& input : arguments.inputs) {
    if (input.text == "-" && std::exchange(from_stdin, &input) != nullptr) {
      return UsageError(
          "-i: only one input can be standard input ('-'); read the others from files");
    }
    absl::StatusOr<client::TensorView> view = ReadTensorArgument(input.name, input.text, use);
    if (!view.ok()) return UsageError(view.status());
    call.Input(input.name, *std::move(view));
  }
  return absl::OkStatus();
}

// Output name → path.
using Files = std::map<std::string, std::string>;

// Each is checked against the schema.
absl::StatusOr<Files> PathsOfOutputs(const Arguments& arguments, const OperatorSchema& schema) {
  std::vector<std::string> known;
  for (const client::TensorParameter& output : schema.outputs) known.push_back(output.name);
  Files files;
  bool to_stdout = false;
  for (const NamedText& file : arguments.files) {
    if (std::find(known.begin(), known.end(), file.name) == known.end()) {
      const std::string want =
          absl::StrCat("an output of the operator (", absl::StrJoin(known, ", "), ")",
                       DidYouMean(file.name, known, '\''));
      return UsageError(
          WithOperator(InvalidParameter(file.name, want, "unknown output"), schema.name));
    }
    if (!files.emplace(file.name, file.text).second)
      return UsageError(absl::StrCat("-o: '", file.name, "' is given twice"));
    if (file.text != "-") continue;
    if (std::exchange(to_stdout, true))
      return UsageError(
          "-o: standard output ('-') takes only one output; write the others to files");
    if (arguments.format == OutputFormat::kJson)
      return UsageError(
          "-o: --json takes standard output, and so does '-'; write the output to a file");
  }
  return files;
}

absl::StatusOr<client::Call> MakeCall(const Arguments& arguments, const Callee& callee,
                                      TensorUse use) {
  client::Call call = callee.NewCall();
  call.OnDevice(arguments.device);
  OPSERVE_RETURN_IF_ERROR(AddAttributes(arguments.attributes, callee.schema, call));
  OPSERVE_RETURN_IF_ERROR(AddDTypes(arguments.dtypes, call));
  OPSERVE_RETURN_IF_ERROR(AddInputs(arguments, use, call));
  return call;
}

template <typename Outputs>
std::string NamesOf(const Outputs& outputs) {
  return absl::StrJoin(outputs, ", ",
                       [](std::string* names, const auto& output) { names->append(output.name); });
}

// That what came are the operator's outputs, as its schema has them.
template <typename Outputs>
absl::Status CheckOutputs(const OperatorSchema& schema, const Outputs& outputs) {
  const auto same = [](const client::TensorParameter& described, const auto& came) {
    return described.name == came.name;
  };
  if (std::equal(schema.outputs.begin(), schema.outputs.end(), outputs.begin(), outputs.end(),
                 same))
    return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the server's answer: want the outputs ",
                                          NamesOf(schema.outputs), ", got ", NamesOf(outputs)));
}

absl::Status SaveOutputs(const client::ExecuteResult& result, const Files& files) {
  for (const client::NamedTensor& output : result.outputs) {
    const auto file = files.find(output.name);
    if (file == files.end()) continue;
    const client::Tensor& tensor = output.tensor;
    OPSERVE_RETURN_IF_ERROR(
        WriteFile(file->second, NpyPreamble(tensor.dtype(), tensor.shape()), tensor.bytes()));
  }
  return absl::OkStatus();
}

std::string ResultText(const client::ExecuteResult& result, const Files& files, Elements elements) {
  TensorTextOptions options;
  if (elements == Elements::kAll) options.max_elements = std::numeric_limits<int64_t>::max();
  std::string text;
  for (const client::NamedTensor& output : result.outputs) {
    const client::Tensor& tensor = output.tensor;
    absl::StrAppend(&text, output.name, " ", TypeText(tensor.dtype(), tensor.shape()));
    if (const auto file = files.find(output.name); file != files.end()) {
      absl::StrAppend(&text, " in ", file->second == "-" ? "standard output" : file->second, "\n");
    } else {
      absl::StrAppend(&text, "\n",
                      TensorText(tensor.dtype(), tensor.shape(), tensor.bytes(), options), "\n");
    }
  }
  if (result.execution.has_value()) {
    absl::StrAppend(&text, "executed on ", result.execution->device, " in ",
                    absl::FormatDuration(result.execution->executed), ", after ",
                    absl::FormatDuration(result.execution->queued), " in the queue\n");
  }
  return text;
}

bool UsesStdout(const Files& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.second == "-"; });
}

// A call that is refused for its size alone is told of the way that has no bound on it.
absl::Status HintAtSession(const absl::Status& status) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value() || detail->reason != ErrorReason::kResourceLimit ||
      detail->parameter != "max_message_bytes")
    return status;
  detail->got.append("; --session sends it in pieces");
  return MakeError(*detail);
}

absl::StatusOr<client::ExecuteResult> RunInOneMessage(const Arguments& arguments,
                                                      const Callee& callee, const Remote& remote,
                                                      const Files& files) {
  OPSERVE_ASSIGN_OR_RETURN(client::Call call, MakeCall(arguments, callee, TensorUse::kRun));
  if (arguments.report == Report::kExecutionToo) call.ReportExecution();
  absl::StatusOr<client::ExecuteResult> result = remote.client().Execute(call, remote.options());
  if (!result.ok()) return HintAtSession(result.status());
  OPSERVE_RETURN_IF_ERROR(CheckOutputs(callee.schema, result->outputs));
  OPSERVE_RETURN_IF_ERROR(SaveOutputs(*result, files));
  return result;
}

absl::StatusOr<client::ExecuteResult> RunInPieces(const Arguments& arguments, const Callee& callee,
                                                  const Remote& remote, const Files& files) {
  OPSERVE_ASSIGN_OR_RETURN(const client::Call call,
                           MakeCall(arguments, callee, TensorUse::kRunInPieces));
  const Chunks chunks = callee.schema.streams_in_chunks ? Chunks::kMay : Chunks::kNo;
  absl::StatusOr<client::ExecuteResult> result =
      RunOnSession(call, chunks, remote, files, Progress::OnTerminal());
  if (result.ok()) OPSERVE_RETURN_IF_ERROR(CheckOutputs(callee.schema, result->outputs));
  return result;
}

absl::StatusOr<client::Plan> FetchPlan(const Arguments& arguments, const Callee& callee,
                                       const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(const client::Call call, MakeCall(arguments, callee, TensorUse::kPlan));
  OPSERVE_ASSIGN_OR_RETURN(client::Plan plan,
                           remote.client().GetWorkspaceSize(call, remote.options()));
  OPSERVE_RETURN_IF_ERROR(CheckOutputs(callee.schema, plan.outputs));
  return plan;
}

}  // namespace

absl::Status Plan(const Arguments& arguments, const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(const Callee callee, FindCallee(arguments, remote));
  OPSERVE_ASSIGN_OR_RETURN(const client::Plan plan, FetchPlan(arguments, callee, remote));
  if (arguments.format == OutputFormat::kJson)
    return WriteOutput(PlanJson(callee.schema.name, plan));
  std::string text =
      absl::StrCat("device     ", plan.device, "\nworkspace  ", plan.workspace_bytes, " bytes\n");
  if (plan.program.has_value()) {
    absl::StrAppend(&text, "steps      ", plan.program->program.steps().size(), "\nresults    ",
                    plan.program->intermediate_bytes,
                    " bytes that are no outputs, in the workspace as memory is used again\n");
  }
  absl::StrAppend(&text, "inputs     ", plan.input_bytes, " bytes\noutputs    ", plan.output_bytes,
                  " bytes\nestimate   ",
                  absl::FormatDuration(absl::Trunc(plan.cost.time, absl::Nanoseconds(100))),
                  plan.cost.runs_inline ? ", run at once\n" : ", queued\n");
  for (const client::PlannedOutput& output : plan.outputs) {
    absl::StrAppend(&text, output.name, " ", TypeText(output.desc.dtype, output.desc.shape), "\n");
  }
  return WriteOutput(text);
}

absl::Status Show(const Arguments& arguments, const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(Callee callee, FindCallee(arguments, remote));
  client::Program program = *callee.program;
  if (!arguments.inputs.empty()) {
    OPSERVE_ASSIGN_OR_RETURN(const client::Plan plan, FetchPlan(arguments, callee, remote));
    if (!plan.program.has_value())
      return absl::InternalError("the server's answer: want the plan of a program, got none");
    program = plan.program->program;
  } else if (program.gradients().has_value()) {
    return UsageError(
        "program show: --grad wants the inputs, -i NAME=SHAPE each: gradients depend on shapes");
  }
  return WriteOutput(arguments.drawing == Drawing::kDot ? ProgramDot(program)
                                                        : ProgramPage(program));
}

absl::Status Run(const Arguments& arguments, const Remote& remote) {
  OPSERVE_ASSIGN_OR_RETURN(const Callee callee, FindCallee(arguments, remote));
  OPSERVE_ASSIGN_OR_RETURN(const Files files, PathsOfOutputs(arguments, callee.schema));
  OPSERVE_ASSIGN_OR_RETURN(const client::ExecuteResult result,
                           arguments.route == Route::kSession
                               ? RunInPieces(arguments, callee, remote, files)
                               : RunInOneMessage(arguments, callee, remote, files));
  if (arguments.format == OutputFormat::kJson)
    return WriteOutput(ResultJson(callee.schema.name, result, files));
  const std::string text = ResultText(result, files, arguments.elements);
  if (!UsesStdout(files)) return WriteOutput(text);
  std::fputs(client::PrintableText(text, client::LineBreaks::kKept).c_str(), stderr);
  return absl::OkStatus();
}

}  // namespace opserve::cli
