// What the tutorial shows, in this order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opserve::cli {

enum class Outcome : uint8_t { kDone, kRefused };

struct TutorialStep {
  std::string title;
  std::string text;                // before the command; lines of at most 78 columns
  std::vector<std::string> words;  // of the command, without the program's name
  Outcome outcome = Outcome::kDone;
  std::string afterwards = {};  // after the command; may be empty
};

// A file that the steps read.
struct TutorialFile {
  std::string name;
  std::string contents;
};

// The program of the last step.
TutorialFile ProgramOfTutorial();

// The steps, whose files are in `folder`.
std::vector<TutorialStep> TutorialSteps(const std::string& folder);

// `opserve` and `words` as a shell takes them: quoted where that is needed, and on several lines
// where one is too long.
std::string ShellText(const std::vector<std::string>& words);

}  // namespace opserve::cli
