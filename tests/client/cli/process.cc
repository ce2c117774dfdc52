#include "tests/client/cli/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace opserve::client {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStep = std::chrono::milliseconds(2);
constexpr auto kPatience = std::chrono::seconds(60);

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string TemporaryFolder() {
  std::string path = "/tmp/opserve-test-XXXXXX";
  return mkdtemp(path.data()) == nullptr ? "" : path;
}

// Starts the program with its three streams at the files in, out and err of `folder`.
pid_t Start(const std::string& program, const std::vector<std::string>& arguments,
            const std::string& folder) {
  const char* bin = getenv("OPSERVE_BIN_DIR");
  const std::string path =
      program.starts_with('/') ? program : std::string(bin == nullptr ? "." : bin) + "/" + program;
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::string in = folder + "/in";
  const std::string out = folder + "/out";
  const std::string err = folder + "/err";
  const pid_t pid = fork();
  if (pid != 0) return pid;
  unsetenv("OPSERVE_TARGET");
  dup2(open(in.c_str(), O_RDONLY), 0);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
  execv(path.c_str(), argv.data());
  _exit(127);
}

// Exit code, or -1 for a program that a signal ended; kills one that takes too long.
int WaitFor(pid_t pid) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) kill(pid, SIGKILL);
    std::this_thread::sleep_for(kStep);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Calls `meanwhile` with the program's process once it has started.
template <typename Meanwhile>
Finished Run(const std::string& program, const std::vector<std::string>& arguments,
             const std::string& input, Meanwhile meanwhile) {
  const std::string folder = TemporaryFolder();
  std::ofstream(folder + "/in", std::ios::binary) << input;
  const pid_t pid = Start(program, arguments, folder);
  meanwhile(pid);
  Finished finished;
  finished.exit_code = WaitFor(pid);
  finished.out = Contents(folder + "/out");
  finished.err = Contents(folder + "/err");
  std::filesystem::remove_all(folder);
  return finished;
}

}  // namespace

Finished RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& input) {
  return Run(program, arguments, input, [](pid_t) {});
}

Finished RunInterrupted(const std::string& program, const std::vector<std::string>& arguments,
                        const std::function<void()>& wait) {
  return Run(program, arguments, "", [&wait](pid_t pid) {
    wait();
    kill(pid, SIGINT);
  });
}

ServerProcess::ServerProcess(const std::vector<std::string>& more_arguments)
    : folder_(TemporaryFolder()) {
  { const std::ofstream empty(folder_ + "/in"); }
  std::vector<std::string> arguments = {"--listen",    "127.0.0.1:0",
                                        "--listen",    "unix:" + folder_ + "/socket",
                                        "--port-file", folder_ + "/ports"};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  pid_ = Start("opserve-server", arguments, folder_);
  const Clock::time_point deadline = Clock::now() + kPatience;
  std::string ports;
  while (ports.empty() && Clock::now() < deadline && waitpid(pid_, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(kStep);
    ports = Contents(folder_ + "/ports");
  }
  std::istringstream lines(ports);
  lines >> tcp_target_ >> unix_target_;
  if (tcp_target_.empty())
    std::fprintf(stderr, "opserve-server: %s\n", Contents(folder_ + "/err").c_str());
}

ServerProcess::~ServerProcess() {
  Stop();
  std::filesystem::remove_all(folder_);
}

void ServerProcess::Signal(int signal) const { kill(pid_, signal); }

int ServerProcess::Stop() {
  if (pid_ <= 0) return 0;
  kill(pid_, SIGTERM);
  const int status = WaitFor(pid_);
  pid_ = -1;
  return status;
}

}  // namespace opserve::client
