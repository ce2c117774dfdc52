// Which message an answer on a stream belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "tests/bench/e2e/unary_task.h"

namespace opserve::bench {

struct StreamAnswer {
  uint64_t id = 0;
  bool more = false;  // others to the same message follow
  bool failed = false;
};

// Reads the first kStreamAnswerStart bytes of an answer, or all of a shorter one. nullopt when they
// are none of this peer's.
std::optional<StreamAnswer> ReadStreamAnswer(Peer peer, std::string_view start);
inline constexpr size_t kStreamAnswerStart = 64;

// Whether a message that starts so is several answers of opserve's.
bool IsGroup(std::string_view start);
// Calls `take` with each. False where it is malformed.
bool ForEachOfGroup(std::string_view group, absl::FunctionRef<void(std::string_view)> take);

}  // namespace opserve::bench
