// What the command line may have: commands, options and their help, as CLI11 knows them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/commands/arguments.h"
#include "client/cli/commands/contexts.h"

namespace opserve::cli {

// What CLI11 fills in.
struct CommandWords {
  Arguments arguments;
  std::string timeout = "60s";
  bool json = false;
  bool full = false;
  bool session = false;
  bool execution = false;
  std::vector<std::string> inputs;
  std::vector<std::string> attributes;
  std::vector<std::string> dtypes;
  std::vector<std::string> files;
  double watch_seconds = 0;
};

struct CommandLine {
  CommandLine();

  CLI::App app{"Runs operator gradients on an opserve server.", "opserve"};
  CommandWords words;
  const CLI::Option* target = nullptr;
  std::shared_ptr<Contexts> contexts;
};

}  // namespace opserve::cli
