// Scenario files: a load test, written down (YAML). docs/load_testing.md says what may be in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/scenario/settings.h"

namespace opserve::loadtest {

// A text by name, in the order of the file.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// An entry of the mix, as it is written: what the texts mean is for the operator's schema to say.
struct OperatorEntry {
  std::string op;
  std::string name;  // in reports; the operator's unless given
  double weight = 1;
  std::optional<std::string> shape;  // "4096" or "64,1000": of inputs that are not given
  std::string dtype;                 // likewise
  NamedTexts inputs;                 // as -i of the command line
  NamedTexts attributes;             // as -a
  NamedTexts dtypes;                 // as --dtype: of outputs
  std::string device;
  std::optional<absl::Duration> timeout;
  int64_t line = 0;  // of the file; 0 = none
};

struct Scenario {
  std::string title;
  std::vector<std::string> targets;
  Settings settings;
  std::vector<OperatorEntry> operators;
};

// Of a file, and of what it may hold.
inline constexpr size_t kMaxScenarioBytes = 1 << 20;
inline constexpr size_t kMaxOperators = 256;

// Reads a scenario whose text is that of the file `path`. Errors (161002) begin with "path:line".
absl::StatusOr<Scenario> ReadScenario(const std::string& path, std::string_view text);

}  // namespace opserve::loadtest
