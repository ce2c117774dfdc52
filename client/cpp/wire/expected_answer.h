// What a session's commands are answered with.
#pragma once

#include "absl/status/status.h"
#include "client/cpp/wire/session_answer.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// What a command that waits for its answer may be told.
struct ExpectedAnswer {
  v1::Command::CommandCase command = v1::Command::COMMAND_NOT_SET;
  bool sends_outputs = false;  // of RunExecutor
};

ExpectedAnswer ExpectedOf(const v1::Command& command);

// INTERNAL for an answer that the command cannot have: results of another kind, or none; several
// answers where there is one; bytes that belong to nothing; numbers that are none.
absl::Status CheckAnswer(const SessionAnswer& answer, const ExpectedAnswer& expected);

}  // namespace opserve::client
