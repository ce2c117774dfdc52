// What became of one message of a load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace opserve::loadtest {

struct Outcome {
  absl::Status status;       // of the message as a whole
  int64_t calls = 1;         // of operators, in the message
  int64_t failed_calls = 0;  // of them, those with an error of their own, in a message that is OK
  absl::Status first_error;  // of these
  // Sums over the calls whose answers tell how they were executed.
  int64_t executions = 0;
  absl::Duration queued;
  absl::Duration executed;
  int64_t request_bytes = 0;  // of messages, without what frames them
  int64_t answer_bytes = 0;
  int64_t checked_calls = 0;  // compared with the first answer to the same inputs
};

}  // namespace opserve::loadtest
