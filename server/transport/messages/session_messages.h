// The messages of a Session RPC: commands in, answers out, one or several in each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/statusor.h"
#include "server/session/flow.h"
#include "server/session/session_state.h"
#include "server/transport/messages/raw_message.h"

namespace opserve::server {

// The commands of one message, read one by one: each takes memory when its turn has come. Movable.
class CommandReader {
 public:
  static constexpr size_t kMaxCommands = 16384;

  // Without commands.
  CommandReader() = default;
  // Errors as ScanMessage's; 161001 naming `commands` where there are none.
  static absl::StatusOr<CommandReader> Open(const grpc::ByteBuffer& message);

  // How many are left.
  size_t size() const { return commands_.size() - next_; }
  // Of the message, all of which stays until the last command is taken.
  size_t message_bytes() const { return message_bytes_; }
  // One is left. 161002 for what is no Command. The command has the entries that it uses; the last
  // one, behind these, those that none uses: so one of the two is at fault and fails for it.
  absl::StatusOr<Command> Next();

 private:
  // Gives `command` the entries that it uses, and has it name these. One that is alone keeps its
  // message; among others an entry that is large is copied once, for all that use it.
  void TakeEntries(Command& command);
  std::shared_ptr<const void> ShareEntry(uint32_t index);

  // What was read, until the last command is taken. Moving the reader keeps every address.
  std::unique_ptr<SplitMessage> message_;
  std::shared_ptr<const void> slices_;  // of the message
  size_t message_bytes_ = 0;
  std::vector<Fragments> commands_;  // as protobuf has them, in the message's header
  std::vector<bool> used_;           // the message's entries
  std::vector<std::shared_ptr<const void>> shared_;  // those of them that were copied for all
  size_t next_ = 0;
};

// One SessionResponse. Large entries are not copied.
grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers);

}  // namespace opserve::server
