#include "client/cpp/session_answer.h"

#include <string>

#include "client/cpp/read_message.h"
#include "client/cpp/status_details.h"
#include "client/cpp/wire_reader.h"

namespace opserve::client {
namespace {

// Splits a message into its `raw` entries and the bytes of all other fields. False at malformed
// bytes.
bool Split(const Fragments& bytes, std::string& header, std::vector<Fragments>& raw) {
  WireReader reader(bytes);
  while (reader.remaining() > 0) {
    const size_t start = bytes.size_bytes() - reader.remaining();
    WireReader::Field field;
    if (!reader.ReadField(field)) return false;
    if (field.number == v1::SessionResponse::kRawFieldNumber &&
        field.type == WireReader::Type::kBytes) {
      if (!reader.Slice(field.length, raw.emplace_back())) return false;
      continue;
    }
    if (!reader.SkipField(field)) return false;
    const size_t length = bytes.size_bytes() - reader.remaining() - start;
    const size_t size = header.size();
    header.resize(size + length);
    bytes.CopyTo(reinterpret_cast<std::byte*>(header.data() + size), start, length);
  }
  return true;
}

absl::Status ReadError(const v1::StatusDetails& error) {
  if (error.code() == 0) return BadAnswer("SessionResponse", "an error whose code is OK");
  return StatusFromWire(error.code(), error.message(), error.SerializeAsString());
}

// Its parsed fields and its status.
void Complete(SessionAnswer& answer) {
  if (answer.message.has_error()) answer.status = ReadError(answer.message.error());
  answer.last = !answer.message.more();
}

absl::Status ReadGroup(SessionMessage& message) {
  for (v1::SessionResponse& member : *message.group.mutable_answers()) {
    if (member.answers_size() > 0) return BadAnswer("SessionResponse", "a group inside a group");
    SessionAnswer& answer = message.answers.emplace_back();
    answer.message = std::move(member);
    for (const std::string& entry : answer.message.raw())
      answer.raw.emplace_back(std::as_bytes(std::span(entry)));
    Complete(answer);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSessionMessage(const Fragments& bytes, SessionMessage& message) {
  std::string header;
  SessionAnswer alone;
  if (!Split(bytes, header, alone.raw) || !alone.message.ParseFromString(header))
    return BadAnswer("SessionResponse", "malformed bytes");
  if (alone.message.answers_size() > 0) {
    message.group = std::move(alone.message);
    return ReadGroup(message);
  }
  Complete(alone);
  message.answers.push_back(std::move(alone));
  return absl::OkStatus();
}

}  // namespace opserve::client
