// Completing words of the command line in a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/commands/arguments.h"

namespace opserve::cli {

// What a shell asks with: `opserve __complete WORD…`, where the last word, perhaps empty, is to be
// completed. Behind the program's name.
inline constexpr std::string_view kCompleteCommand = "__complete";

// What may come in the place of the last of the words of a command line.
struct Completion {
  enum class Of : uint8_t {
    kNothing,
    kFile,
    kOperator,
    kInput,      // "NAME=", of `op`
    kAttribute,  // "NAME=" or "NAME=CHOICE", of `op`
    kOutput,     // "NAME=", of `op`
    kDevice,
  };
  std::vector<std::string> words;  // commands and options, and choices of options
  Of of = Of::kNothing;
  std::string op;        // empty where the words have none yet
  Arguments connection;  // how the words say that the server is reached
};

// `words` are those behind the program's name; the last one, perhaps empty, is to be completed.
Completion CompletionOf(const std::vector<std::string>& words);

// The words themselves, a line each; ":files" where paths of files may come, too. Those that only a
// server knows are asked of it, for a second at most; none of them where it does not answer.
std::string CompletionLines(const std::vector<std::string>& words);

// For a shell of that name ("bash", "zsh", "fish"), to be read by it.
std::string_view CompletionScript(std::string_view shell);

}  // namespace opserve::cli
