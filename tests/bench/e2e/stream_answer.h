// Which commands the answers on a stream belong to.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/unary_task.h"

namespace opserve::bench {

struct StreamAnswer {
  uint64_t id = 0;
  bool more = false;  // others to the same command follow
  bool failed = false;
};

// Calls `take` with each answer in a message; the bytes of one that is alone are not copied. False
// where the message is none of this peer's.
bool ForEachAnswer(Peer peer, const Answer& message,
                   absl::FunctionRef<void(const StreamAnswer&)> take);

}  // namespace opserve::bench
