// The command line of `opserve bench`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}  // namespace CLI

namespace opserve::cli {

struct BenchArguments {
  std::string scenario;  // a file; empty = the operator on the command line
  std::string shape;     // of inputs that are not given; empty = all are
  std::string dtype;     // likewise
  std::string title;
  std::vector<std::pair<std::string, std::string>> settings;  // name → text, as they came
  std::string html;                                           // files; empty = none
  std::string save;
  std::vector<std::string> compare;
  bool csv = false;
  bool no_ceiling = false;
};

// Adds the flags to the command `bench`, which must live as long as `arguments`. What `run` has as
// well (-i, -a, --dtype, --device) is the caller's to add.
void AddBenchFlags(CLI::App& bench, BenchArguments& arguments);

}  // namespace opserve::cli
