// The messages of a Session RPC: commands in, answers out, one or several in each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/statusor.h"
#include "server/session/flow.h"
#include "server/session/session_state.h"
#include "server/wire/raw_message.h"

namespace opserve::server {

// The commands of one message, read one by one: each takes memory when its turn has come. Movable.
class CommandReader {
 public:
  static constexpr size_t kMaxCommands = 16384;

  // Without commands.
  CommandReader() = default;
  // Errors as ScanMessage's; 161002 naming `commands` for a message that holds commands and
  // anything else, or commands that hold commands.
  static absl::StatusOr<CommandReader> Open(const grpc::ByteBuffer& message);

  // They came as SessionRequest.commands: answers may go as SessionResponse.answers.
  bool is_grouped() const { return !commands_.empty(); }
  // How many are left.
  size_t size() const {
    if (message_ == nullptr) return 0;
    return is_grouped() ? commands_.size() - next_ : 1;
  }
  // One is left. Errors as Open's, and ParseHeader's. The command's bytes are its own, or keep the
  // whole message where it is alone and they are many.
  absl::StatusOr<Command> Next();

 private:
  absl::StatusOr<Command> TakeOnly();
  absl::StatusOr<Command> NextOfGroup();

  // What was read, until its last command is taken. Movable: moving keeps every address.
  std::unique_ptr<SplitMessage> message_;
  std::vector<Fragments> commands_;  // of a group, as protobuf has them; in the message's header
  size_t next_ = 0;
};

// One message: of a SessionResponse, or of several as its `answers`. Large entries of one that is
// alone are not copied.
grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers);

}  // namespace opserve::server
