// Commands of a session on their way out: several in one message, where they are small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/cpp/values/request.h"
#include "client/cpp/wire/call_messages.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// One command or several, put together into a SessionRequest. Not thread-safe.
class OutgoingMessage {
 public:
  // Of one command, without an id, whose raw_index counts `raw`. What AppendRaw does not copy is
  // referred to.
  OutgoingMessage(v1::Command command, const std::vector<RawEntry>& raw);

  // What it takes, at most; of several commands: about.
  size_t size_bytes() const { return size_bytes_; }
  size_t commands() const { return static_cast<size_t>(header_.commands_size()); }
  // It refers to nobody's memory.
  bool is_copied() const { return is_copied_; }

  // Of its first command.
  void SetId(uint64_t id) { header_.mutable_commands(0)->set_id(id); }
  // Puts the commands of `other` behind its own. Each raw_index of theirs counts from 0 on before,
  // and may take a few bytes more after.
  void Append(OutgoingMessage other);

  // The message. Nothing is left here.
  Request Take();

 private:
  v1::SessionRequest header_;  // without raw
  Request raw_;
  uint32_t raw_entries_ = 0;
  size_t size_bytes_ = 0;
  bool is_copied_ = true;
};

}  // namespace opserve::client
