#include "tests/server/server_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace opserve::testing {

ServerProcess::ServerProcess(const std::vector<std::string>& flags,
                             const std::string& program_name) {
  const char* folder = std::getenv("OPSERVE_BIN_DIR");
  if (folder == nullptr) {
    ADD_FAILURE() << "OPSERVE_BIN_DIR is not set: run this through ctest";
    return;
  }
  std::string program = std::string(folder) + "/" + program_name;
  std::vector<std::string> words = flags;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ), 0)
      << program;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  pipe_ = ends[0];
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (pipe_ >= 0) ::close(pipe_);
}

bool ServerProcess::ReadMore() {
  std::array<char, 4096> buffer = {};
  const ssize_t count = ::read(pipe_, buffer.data(), buffer.size());
  if (count <= 0) return false;
  output_.append(buffer.data(), static_cast<size_t>(count));
  return true;
}

bool ServerProcess::WaitForLine(const std::string& part) {
  while (true) {
    const size_t found = output_.find(part);
    if (found != std::string::npos && output_.find('\n', found) != std::string::npos) return true;
    if (!ReadMore()) return false;
  }
}

void ServerProcess::Signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

void ServerProcess::Pause() const {
  Signal(SIGSTOP);
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
  EXPECT_TRUE(WIFSTOPPED(status));
}

int ServerProcess::Wait() {
  while (ReadMore()) {
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace opserve::testing
