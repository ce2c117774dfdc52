// The highest load that still meets a goal.
#pragma once

#include <optional>

#include "absl/functional/function_ref.h"

namespace opserve::loadtest {

struct SearchBounds {
  double first = 1;         // where to begin
  double highest = 1e9;     // nothing beyond is tried
  double precision = 0.05;  // ends once the answer is known to this part of itself
  int trials = 20;          // at most
  bool whole = false;       // whole numbers only
};

// Whether the goal is met at a load; nullopt ends the search.
using MeetsGoal = absl::FunctionRef<std::optional<bool>(double load)>;

// Doubles the load until the goal is missed (or halves it until it is met), then closes in. Returns
// the highest load that met the goal; 0 where none did.
double FindHighestLoad(const SearchBounds& bounds, MeetsGoal meets);

}  // namespace opserve::loadtest
