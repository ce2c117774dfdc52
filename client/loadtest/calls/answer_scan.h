// What a load wants of each answer, read without looking at the tensors in it.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "client/loadtest/figures/outcome.h"
#include "core/base/fragments.h"

namespace opserve::loadtest {

// Each returns false for bytes that are not such a message, and adds what it finds to the outcome:
// how the calls were executed, and which failed.

// ExecuteResponse.
bool ScanExecuteAnswer(const Fragments& answer, Outcome& outcome);
// ExecuteBatchResponse.
bool ScanBatchAnswer(const Fragments& answer, Outcome& outcome);

// An answer on a session: its command, and what became of it.
struct SessionAnswer {
  uint64_t id = 0;  // 0: a notice
  bool more = false;
  Outcome outcome;
};
// SessionResponse: calls `take` with each answer in it.
bool ScanSessionAnswers(const Fragments& message,
                        absl::FunctionRef<void(const SessionAnswer&)> take);

}  // namespace opserve::loadtest
