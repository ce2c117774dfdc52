// What the tutorial shows, without a server.
#include "client/cli/tutorial/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/commands/arguments.h"
#include "client/cli/formats/program_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

constexpr size_t kMostColumns = 78;

TEST(ShellTextTest, QuotesWhatAShellWouldReadOtherwise) {
  EXPECT_EQ(ShellText({"ops", "Relu"}), "opserve ops Relu");
  EXPECT_EQ(ShellText({"run", "Relu", "-i", "self=f32[2]{1,2}"}),
            "opserve run Relu -i 'self=f32[2]{1,2}'");
  EXPECT_EQ(ShellText({"ops", "it's", ""}), R"(opserve ops 'it'\''s' '')");
}

TEST(ShellTextTest, KeepsAnOptionAndItsValueOnALine) {
  const std::string value(55, 'x');
  EXPECT_EQ(ShellText({"run", "Op", "-i", value, "-i", value, "--full"}),
            "opserve run Op -i " + value + " \\\n    -i " + value + " --full");
}

TEST(TutorialStepsTest, AreCommandsThatFitATerminal) {
  for (const TutorialStep& step : TutorialSteps("/tmp/opserve-tutorial-abcdef")) {
    std::vector<const char*> words = {"opserve"};
    for (const std::string& word : step.words) words.push_back(word.c_str());
    const auto parsed = ParseArguments(static_cast<int>(words.size()), words.data());
    EXPECT_TRUE(std::holds_alternative<Arguments>(parsed)) << step.title;
    std::istringstream lines(step.title + "\n" + step.text + "\n" + step.afterwards + "\n" +
                             ShellText(step.words));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kMostColumns) << line;
  }
}

TEST(TutorialStepsTest, TheProgramIsOne) {
  EXPECT_THAT(ParseProgram(ProgramOfTutorial().contents), testing::IsOk());
}

}  // namespace
}  // namespace opserve::cli
