#include "client/cli/tutorial/tutorial.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/files.h"
#include "client/cli/output/json_output.h"
#include "client/cli/output/report.h"
#include "client/cli/tutorial/local_server.h"
#include "client/cli/tutorial/reader.h"
#include "client/cli/tutorial/steps.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPrompt[] = "[Enter: run it, q: end] ";
constexpr char kEnd[] =
    "That was the tutorial. The server of the tutorial is stopped, and its files are removed.\n"
    "\n"
    "Next: start a server of your own with `opserve-server`, and see `opserve --help`.\n"
    "docs/tutorial.md is the same in Python, docs/command_line.md explains each command, and\n"
    "docs/concepts.md has the ideas behind them.\n";

// A new folder, removed with all that is in it.
class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Make() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    std::string path = (error ? fs::path("/tmp") : parent) / "opserve-tutorial-XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return absl::ErrnoToStatus(errno, absl::StrCat("tutorial: cannot make the folder ", path));
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

// The command of a step, for the server and with the options of the tutorial.
absl::StatusOr<Arguments> ArgumentsOf(const TutorialStep& step, const Arguments& tutorial) {
  std::vector<const char*> words = {"opserve"};
  for (const std::string& word : step.words) words.push_back(word.c_str());
  const auto parsed = ParseArguments(static_cast<int>(words.size()), words.data());
  if (const auto* const mistake = std::get_if<Mistake>(&parsed)) return mistake->status;
  const auto* const found = std::get_if<Arguments>(&parsed);
  if (found == nullptr) return absl::InternalError("the step has no command");
  Arguments arguments = *found;
  arguments.target = tutorial.target;
  arguments.target_given = true;
  arguments.connect = tutorial.connect;
  arguments.timeout = tutorial.timeout;
  arguments.max_answer_bytes = tutorial.max_answer_bytes;
  arguments.traceparent = tutorial.traceparent;
  arguments.format = tutorial.format;
  return arguments;
}

// Runs the command. A refusal that the step is about is printed where the outputs would be.
absl::Status RunStep(const TutorialStep& step, const Arguments& tutorial) {
  OPSERVE_ASSIGN_OR_RETURN(const Arguments arguments, ArgumentsOf(step, tutorial));
  absl::Status status = RunCommand(arguments);
  if (step.outcome == Outcome::kDone || ExitCodeOf(status) != ExitCode::kFailed) return status;
  return WriteOutput(arguments.format == OutputFormat::kJson
                         ? ErrorJson(status)
                         : absl::StrCat(ErrorLine(status), "\n"));
}

absl::Status Greet(const Arguments& arguments, size_t steps) {
  return WriteOutput(absl::StrCat(
      "This tutorial shows opserve in ", steps, " commands. ",
      arguments.target_given ? "The server is" : "It has started a server for them,", " ",
      arguments.target, ".\nTo try more in a second shell, tell opserve which server you mean:\n",
      "\n    export OPSERVE_TARGET=", arguments.target, "\n"));
}

absl::StatusOr<Answer> Prompt(Reader& reader) {
  if (!reader.asks()) return reader.Ask();
  OPSERVE_RETURN_IF_ERROR(WriteOutput(kPrompt));
  const Answer answer = reader.Ask();
  // Only a terminal has shown the Enter that was the answer.
  if (answer == Answer::kEnd || isatty(STDIN_FILENO) != 1)
    OPSERVE_RETURN_IF_ERROR(WriteOutput("\n"));
  return answer;
}

absl::Status GoThrough(std::span<const TutorialStep> steps, const Arguments& arguments,
                       Reader& reader) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const TutorialStep& step = steps[i];
    OPSERVE_RETURN_IF_ERROR(
        WriteOutput(absl::StrCat("\n", i + 1, "/", steps.size(), "  ", step.title, "\n\n",
                                 step.text, "\n\n$ ", ShellText(step.words), "\n")));
    OPSERVE_ASSIGN_OR_RETURN(const Answer answer, Prompt(reader));
    if (answer == Answer::kEnd) return absl::OkStatus();
    OPSERVE_RETURN_IF_ERROR(RunStep(step, arguments));
    if (!step.afterwards.empty())
      OPSERVE_RETURN_IF_ERROR(WriteOutput(absl::StrCat("\n", step.afterwards, "\n")));
  }
  return WriteOutput(absl::StrCat("\n", kEnd));
}

}  // namespace

absl::Status RunTutorial(const Arguments& arguments) {
  // The first to come and the last to go: a signal that it held back ends the process.
  Reader reader(arguments.pace);
  OPSERVE_ASSIGN_OR_RETURN(const std::unique_ptr<TemporaryFolder> folder, TemporaryFolder::Make());
  Arguments served = arguments;
  std::unique_ptr<LocalServer> server;
  if (!arguments.target_given) {
    OPSERVE_ASSIGN_OR_RETURN(server, LocalServer::Start(folder->path()));
    served.target = server->target();
    served.connect = ConnectArguments();
  }
  const TutorialFile program = ProgramOfTutorial();
  OPSERVE_RETURN_IF_ERROR(
      WriteFile(absl::StrCat(folder->path(), "/", program.name), program.contents, {}));
  const std::vector<TutorialStep> steps = TutorialSteps(folder->path());
  OPSERVE_RETURN_IF_ERROR(Greet(served, steps.size()));
  return GoThrough(steps, served, reader);
}

}  // namespace opserve::cli
