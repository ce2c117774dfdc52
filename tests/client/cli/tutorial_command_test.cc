// `opserve tutorial` with real servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/client/cli/process.h"

namespace opserve::client {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kFirstGradient[] = "grad_input f32[4,2]\n[[-0.125      0]\n";
constexpr char kPrompt[] = "[Enter: run it, q: end] ";

std::string Bin(const char* program) {
  return std::string(std::getenv("OPSERVE_BIN_DIR")) + "/" + program;
}

// Temporary files go into a folder of the test, which must be empty after it.
class TutorialTest : public ::testing::Test {
 protected:
  TutorialTest() {
    std::string path = "/tmp/opserve-test-XXXXXX";
    folder_ = mkdtemp(path.data());
    fs::create_directory(folder_ / "temporary");
    setenv("TMPDIR", (folder_ / "temporary").c_str(), 1);
    unsetenv("OPSERVE_TARGET");
  }
  ~TutorialTest() override {
    EXPECT_TRUE(fs::is_empty(folder_ / "temporary")) << "the tutorial left files behind";
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  // A program of its own folder, so that no server is beside it.
  std::string CommandWithoutServer() const {
    const fs::path program = folder_ / "opserve";
    fs::copy_file(Bin("opserve"), program, fs::copy_options::skip_existing);
    return program;
  }

  fs::path folder_;
};

TEST_F(TutorialTest, RunsEachCommand) {
  const Finished done = RunProgram("opserve", {"tutorial", "--yes"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, IsEmpty());
  EXPECT_THAT(done.out, HasSubstr(kFirstGradient));
  EXPECT_THAT(done.out, HasSubstr("SmoothL1LossBackward - Gradient of SmoothL1Loss"));
  EXPECT_THAT(done.out, HasSubstr("\nexecuted on cpu:0 in "));
  EXPECT_THAT(
      done.out,
      HasSubstr("\nopserve: SmoothL1LossBackward: beta: want >= 0, got -1 (OUT_OF_RANGE, 161002"));
  EXPECT_THAT(done.out, HasSubstr("\n1 under way "));
  EXPECT_THAT(done.out, HasSubstr("\nout f32[3]\n[  2 1.5   0]\n"));
  EXPECT_THAT(done.out, HasSubstr("\ngrad_w f32[3,1]\n[[2]\n [2]\n [2]]\n"));
  EXPECT_THAT(done.out, Not(HasSubstr(kPrompt)));
}

TEST_F(TutorialTest, EnterGoesOnAndQEnds) {
  const Finished done = RunProgram("opserve", {"tutorial"}, "\n\nq\n");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr(kFirstGradient), HasSubstr("PROFILES")));
  EXPECT_THAT(done.out, Not(HasSubstr("executed on")));
  EXPECT_THAT(done.out, EndsWith(std::string("-a beta=2 --execution\n") + kPrompt + "\n"));
}

TEST_F(TutorialTest, GoesOnByItselfAtTheEndOfAFile) {
  const Finished done = RunProgram("opserve", {"tutorial"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out.find(kPrompt), done.out.rfind(kPrompt));
  EXPECT_THAT(done.out, HasSubstr("grad_b f32[1]"));
}

TEST_F(TutorialTest, UsesTheServerThatIsNamed) {
  ServerProcess server;
  const Finished done = RunProgram(
      CommandWithoutServer(), {"tutorial", "--yes", "--json", "--target", server.tcp_target()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("export OPSERVE_TARGET=" + server.tcp_target()));
  EXPECT_THAT(done.out, HasSubstr("\"values\":[-0.125,"));
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(TutorialTest, StopsAtAnErrorThatNoStepIsAbout) {
  const Finished done =
      RunProgram("opserve", {"tutorial", "--yes", "--target", "unix:/nonexistent"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.out, AllOf(HasSubstr("1/8"), Not(HasSubstr("2/8"))));
  EXPECT_THAT(done.err, HasSubstr("unix:/nonexistent"));
}

TEST_F(TutorialTest, SaysWhatToDoWithoutAServer) {
  const std::string command = CommandWithoutServer();
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const Finished done = RunProgram(command, {"tutorial", "--yes"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_EQ(done.err,
            "opserve: tutorial: no opserve-server beside opserve or in PATH; install it, or name a "
            "server that runs: opserve tutorial --target HOST:PORT\n");
}

TEST_F(TutorialTest, SaysWhyAServerDoesNotStart) {
  const std::string command = CommandWithoutServer();
  std::ofstream(folder_ / "opserve-server") << "#!/bin/sh\necho no memory is left >&2\nexit 1\n";
  fs::permissions(folder_ / "opserve-server", fs::perms::owner_all);
  const Finished done = RunProgram(command, {"tutorial", "--yes"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("opserve-server did not start: no memory is left"));
}

// The tutorial on a terminal of its own.
class OnTerminal {
 public:
  OnTerminal() : pid_(forkpty(&terminal_, nullptr, nullptr, nullptr)) {
    if (pid_ != 0) return;
    const std::string program = Bin("opserve");
    execl(program.c_str(), program.c_str(), "tutorial", nullptr);
    _exit(127);
  }
  ~OnTerminal() { close(terminal_); }

  // Reads until the terminal shows `text`, or nothing comes any more.
  bool Shows(const std::string& text) {
    char piece[4096];
    while (shown_.find(text) == std::string::npos) {
      const ssize_t size = read(terminal_, piece, sizeof(piece));
      if (size <= 0) return false;
      shown_.append(piece, static_cast<size_t>(size));
    }
    return true;
  }
  void Type(const std::string& keys) const {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // As waitpid says it.
  int End() {
    Shows("\x01 never");
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  int terminal_ = -1;
  pid_t pid_;
  std::string shown_;
};

TEST_F(TutorialTest, CtrlCEndsItAndItsServer) {
  OnTerminal tutorial;
  ASSERT_TRUE(tutorial.Shows(kPrompt));
  tutorial.Type("\x03");
  const int status = tutorial.End();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
}

TEST_F(TutorialTest, CtrlDEndsIt) {
  OnTerminal tutorial;
  ASSERT_TRUE(tutorial.Shows(kPrompt));
  tutorial.Type("\n");
  ASSERT_TRUE(tutorial.Shows("grad_input"));
  tutorial.Type("\x04");
  const int status = tutorial.End();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace opserve::client
