#include "client/cpp/wire/outgoing_message.h"

#include <utility>

namespace opserve::client {
namespace {

// What a command, or an entry's bytes, take in a message beside themselves, at most: tags, lengths,
// the command's id.
constexpr size_t kFramingBytes = 20;

void ShiftInputs(uint32_t shift, v1::Call& call) {
  for (v1::Tensor& input : *call.mutable_inputs())
    if (input.has_raw_index()) input.set_raw_index(shift + input.raw_index());
}

// Has `command` count its entries from `shift` on.
void ShiftEntries(uint32_t shift, v1::Command& command) {
  if (command.has_upload())
    command.mutable_upload()->set_raw_index(shift + command.upload().raw_index());
  if (command.has_input_chunk())
    command.mutable_input_chunk()->set_raw_index(shift + command.input_chunk().raw_index());
  if (command.has_execute()) ShiftInputs(shift, *command.mutable_execute()->mutable_call());
  if (command.has_execute_chunked())
    ShiftInputs(shift, *command.mutable_execute_chunked()->mutable_call());
}

}  // namespace

OutgoingMessage::OutgoingMessage(v1::Command command, const std::vector<RawEntry>& raw)
    : raw_entries_(static_cast<uint32_t>(raw.size())),
      size_bytes_(kFramingBytes + command.ByteSizeLong()) {
  *header_.add_commands() = std::move(command);
  for (const RawEntry& entry : raw) {
    AppendRaw(v1::SessionRequest::kRawFieldNumber, entry, raw_);
    size_bytes_ += kFramingBytes + entry.bytes.size();
    is_copied_ = is_copied_ && IsCopied(entry.bytes);
  }
}

void OutgoingMessage::Append(OutgoingMessage other) {
  for (v1::Command& command : *other.header_.mutable_commands()) {
    if (raw_entries_ > 0) ShiftEntries(raw_entries_, command);
    *header_.add_commands() = std::move(command);
  }
  raw_.Append(std::move(other.raw_));
  raw_entries_ += other.raw_entries_;
  size_bytes_ += other.size_bytes_;
  is_copied_ = is_copied_ && other.is_copied_;
}

Request OutgoingMessage::Take() {
  Request message;
  message.AppendCopy(header_.SerializeAsString());
  message.Append(std::move(raw_));
  return message;
}

}  // namespace opserve::client
