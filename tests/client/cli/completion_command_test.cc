// Completing words in real shells, with names of a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/client/cli/process.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CompletionCommandTest : public ::testing::Test {
 protected:
  // What the shell's program prints that completes `line` as if Tab had been pressed at its end.
  Finished Complete(const std::string& shell, const std::string& line) {
    const std::string bin = std::getenv("OPSERVE_BIN_DIR");
    const std::string point = std::to_string(line.size());
    const std::string target = server_.unix_target();
    const std::string bash = "PATH=" + bin + ":$PATH\nexport OPSERVE_TARGET=" + target +
                             "\nsource <(opserve completion bash)\n"
                             "compopt() { echo OPT \"$@\"; }\n"
                             "COMP_LINE='" +
                             line + "' COMP_POINT=" + point +
                             "\n_opserve\nprintf '[%s]\\n' \"${COMPREPLY[@]}\"\n";
    const std::string fish = "set -x PATH " + bin + " $PATH\nset -x OPSERVE_TARGET " + target +
                             "\nopserve completion fish | source\ncomplete -C '" + line + "'\n";
    return RunProgram("/usr/bin/" + shell, {"-c", shell == "bash" ? bash : fish});
  }

  ServerProcess server_;
};

TEST_F(CompletionCommandTest, Bash) {
  EXPECT_EQ(Complete("bash", "opserve pro").out, "[program]\n");
  const std::string operators = Complete("bash", "opserve run SmoothL1").out;
  EXPECT_EQ(operators, "[SmoothL1Loss]\n[SmoothL1LossBackward]\n");
  EXPECT_EQ(Complete("bash", "opserve run SmoothL1Loss -i t").out, "OPT -o nospace\n[target=]\n");
  // Bash takes what is before "=" for a word of its own, so it is no part of the answer.
  EXPECT_EQ(Complete("bash", "opserve run SmoothL1Loss -a reduction=m").out, "[mean]\n");
  EXPECT_EQ(Complete("bash", "opserve run --device c").out, "[cpu:0]\n");
  EXPECT_THAT(Complete("bash", "opserve program run /etc/pass").out, HasSubstr("[/etc/passwd]"));
}

TEST_F(CompletionCommandTest, Fish) {
  if (RunProgram("/usr/bin/fish", {"--version"}).exit_code != 0) GTEST_SKIP() << "no fish";
  EXPECT_EQ(Complete("fish", "opserve pro").out, "program\n");
  EXPECT_EQ(Complete("fish", "opserve run SmoothL1Loss -a reduction=m").out, "reduction=mean\n");
}

TEST_F(CompletionCommandTest, ZshReadsItsScript) {
  if (RunProgram("/usr/bin/zsh", {"--version"}).exit_code != 0) GTEST_SKIP() << "no zsh";
  const Finished script = RunProgram("opserve", {"completion", "zsh"});
  ASSERT_EQ(script.exit_code, 0);
  const Finished read = RunProgram("/usr/bin/zsh", {"-n", "/dev/stdin"}, script.out);
  EXPECT_EQ(read.exit_code, 0) << read.err;
}

TEST_F(CompletionCommandTest, OtherShellsAreAnError) {
  const Finished done = RunProgram("opserve", {"completion", "tcsh"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("tcsh"));
}

}  // namespace
}  // namespace opserve::client
