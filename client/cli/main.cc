// opserve: operator gradients from the command line.
#include <cstdio>
#include <cstdlib>
#include <variant>

#include "client/cli/commands/arguments.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/completion.h"
#include "client/cli/files/files.h"
#include "client/cli/output/json_output.h"
#include "client/cli/output/report.h"
#include "client/cli/tutorial/tutorial.h"
#include "core/base/standard_files.h"
#include "google/protobuf/stubs/logging.h"

namespace opserve::cli {
namespace {

int Report(const absl::Status& status, OutputFormat format) {
  if (!status.ok())
    std::fputs(
        (format == OutputFormat::kJson ? ErrorJson(status) : ErrorLine(status) + "\n").c_str(),
        stderr);
  return static_cast<int>(ExitCodeOf(status));
}

int Main(int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == kCompleteCommand)
    return Report(WriteOutput(CompletionLines({argv + 2, argv + argc})), OutputFormat::kText);
  const std::variant<Arguments, Notice, Mistake> parsed = ParseArguments(argc, argv);
  if (const auto* notice = std::get_if<Notice>(&parsed))
    return Report(WriteOutput(notice->text), OutputFormat::kText);
  if (const auto* mistake = std::get_if<Mistake>(&parsed))
    return Report(mistake->status, mistake->format);
  const auto& arguments = std::get<Arguments>(parsed);
  const bool is_tutorial = arguments.command == Command::kTutorial;
  return Report(is_tutorial ? RunTutorial(arguments) : RunCommand(arguments), arguments.format);
}

}  // namespace
}  // namespace opserve::cli

OPSERVE_OPEN_STANDARD_FILES_FIRST();

int main(int argc, char** argv) {
  // The logs of gRPC and protobuf would repeat what a server did, beside the one line that tells
  // of it.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  // As long as a server sends more than gRPC 1.51 read of it, gRPC reads twice as much the next
  // time, and works all of it off in one go: hundreds of megabytes, and deaf to time-outs. Not so
  // without this experiment, which later versions do not have.
  setenv("GRPC_EXPERIMENTS", "-tcp_read_chunks", 0);
  google::protobuf::SetLogHandler(nullptr);
  return opserve::cli::Main(argc, argv);
}
