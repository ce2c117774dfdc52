#include "client/cli/tutorial/local_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/output/report.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "opserve-server";
constexpr absl::Duration kStartPatience = absl::Seconds(30);
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(5);

// Empty where there is none.
std::string FindProgram() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(self.parent_path());
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> in_path =
      absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty());
  folders.insert(folders.end(), in_path.begin(), in_path.end());
  for (const fs::path& folder : folders) {
    const fs::path program = folder / kProgram;
    if (fs::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

// In the new process: makes it the server's. Only what is allowed after fork.
[[noreturn]] void Become(char* const* argv, const char* log, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Ctrl-C is for the tutorial, which then stops the server.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int output = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int input = open("/dev/null", O_RDONLY);
  if (getppid() != parent || output < 0 || input < 0) _exit(127);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

pid_t Spawn(const std::string& program, const std::string& folder) {
  std::vector<std::string> words = {program, "--listen", absl::StrCat("unix:", folder, "/socket"),
                                    "--port-file", absl::StrCat(folder, "/addresses")};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = absl::StrCat(folder, "/log");
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(argv.data(), log.c_str(), parent);
  return pid;
}

std::string FirstLine(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::string LastLine(const std::string& path) {
  std::string last;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalServer>> LocalServer::Start(const std::string& folder) {
  const std::string program = FindProgram();
  if (program.empty()) {
    return UsageError(absl::StrCat("tutorial: no ", kProgram,
                                   " beside opserve or in PATH; install it, or name a "
                                   "server that runs: opserve tutorial --target HOST:PORT"));
  }
  const pid_t pid = Spawn(program, folder);
  if (pid < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot start ", program));
  std::unique_ptr<LocalServer> server(new LocalServer(pid));
  OPSERVE_RETURN_IF_ERROR(server->WaitUntilItServes(folder));
  return server;
}

absl::Status LocalServer::WaitUntilItServes(const std::string& folder) {
  const absl::Time deadline = Clock::Real().Now() + kStartPatience;
  while (Clock::Real().Now() < deadline) {
    // The server writes the file in one piece.
    target_ = FirstLine(absl::StrCat(folder, "/addresses"));
    if (!target_.empty()) return absl::OkStatus();
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      break;
    }
    absl::SleepFor(kBetweenLooks);
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "tutorial: ", kProgram, " did not start: ", LastLine(absl::StrCat(folder, "/log"))));
}

LocalServer::~LocalServer() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  const absl::Time deadline = Clock::Real().Now() + kStartPatience;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (Clock::Real().Now() > deadline) kill(pid_, SIGKILL);
    absl::SleepFor(kBetweenLooks);
  }
}

}  // namespace opserve::cli
