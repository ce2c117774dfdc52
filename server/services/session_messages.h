// The messages of a Session RPC: commands in, answers out, one or several in each.
#pragma once

#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "server/session/flow.h"
#include "server/session/session_state.h"

namespace opserve::server {

// What one message from the client holds.
struct IncomingCommands {
  absl::InlinedVector<Command, 1> commands;
  // They came as SessionRequest.commands: answers may go as SessionResponse.answers.
  bool grouped = false;
};

// Errors as ReadSessionRequest's; 161002 naming `commands` for a message that holds commands and
// anything else, or commands that hold commands.
absl::StatusOr<IncomingCommands> ReadCommands(const grpc::ByteBuffer& message);

// One message: of a SessionResponse, or of several as its `answers`. Large entries of one that is
// alone are not copied.
grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers);

}  // namespace opserve::server
