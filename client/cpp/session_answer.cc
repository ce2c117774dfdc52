#include "client/cpp/session_answer.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cpp/answered_outputs.h"
#include "client/cpp/read_message.h"
#include "client/cpp/status_details.h"
#include "client/cpp/wire_reader.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

// Splits a message into its `raw` entries and the bytes of all other fields.
absl::Status Split(const Fragments& bytes, std::string& header, std::vector<Fragments>& raw) {
  WireReader reader(bytes);
  while (reader.remaining() > 0) {
    const size_t start = bytes.size_bytes() - reader.remaining();
    WireReader::Field field;
    if (!reader.ReadField(field)) return MalformedAnswer(kSessionAnswer);
    if (field.number == v1::SessionResponse::kRawFieldNumber &&
        field.type == WireReader::Type::kBytes) {
      if (raw.size() == kMaxOutputs)
        return BadAnswer(kSessionAnswer, "raw", absl::StrCat("at most ", kMaxOutputs, " entries"),
                         "more");
      if (!reader.Slice(field.length, raw.emplace_back())) return MalformedAnswer(kSessionAnswer);
      continue;
    }
    if (!reader.SkipField(field)) return MalformedAnswer(kSessionAnswer);
    const size_t length = bytes.size_bytes() - reader.remaining() - start;
    const size_t size = header.size();
    if (length > kMaxHeaderBytes - size) {
      return BadAnswer(kSessionAnswer, "its fields",
                       absl::StrCat("at most ", kMaxHeaderBytes, " bytes without raw"), "more");
    }
    header.resize(size + length);
    bytes.CopyTo(reinterpret_cast<std::byte*>(header.data() + size), start, length);
  }
  return absl::OkStatus();
}

absl::Status ReadError(const v1::StatusDetails& error) {
  absl::Status status = StatusFromWire(error);
  return status.ok() ? BadAnswer(kSessionAnswer, "error", "a code of an error", "OK") : status;
}

// Its parsed fields and its status.
void Complete(SessionAnswer& answer) {
  if (answer.message.has_error()) answer.status = ReadError(answer.message.error());
  answer.last = !answer.message.more();
}

// Whether it has its answers and nothing else.
bool IsPlainGroup(const SessionAnswer& group) {
  const v1::SessionResponse& message = group.message;
  return message.id() == 0 && !message.more() && !message.has_error() && group.raw.empty() &&
         message.failed_command() == 0 &&
         message.answer_case() == v1::SessionResponse::ANSWER_NOT_SET;
}

absl::Status ReadGroup(SessionMessage& message) {
  for (v1::SessionResponse& member : *message.group.mutable_answers()) {
    if (member.answers_size() > 0) return BadAnswer(kSessionAnswer, "a group inside a group");
    SessionAnswer& answer = message.answers.emplace_back();
    answer.message = std::move(member);
    for (const std::string& entry : answer.message.raw())
      answer.raw.emplace_back(std::as_bytes(std::span(entry)));
    Complete(answer);
  }
  return absl::OkStatus();
}

absl::Status AtLeast(std::string_view name, int64_t least, int64_t got) {
  if (got >= least) return absl::OkStatus();
  return BadAnswer("SessionInfo", name, absl::StrCat("at least ", least), absl::StrCat(got));
}

}  // namespace

absl::StatusOr<SessionInfo> ReadSessionInfo(const v1::SessionInfo& message) {
  // As little as any server allows.
  constexpr int64_t kMinMessageBytes = 4096;
  constexpr int64_t kMinChunkBytes = 512;
  OPSERVE_RETURN_IF_ERROR(CheckCounts(message));
  OPSERVE_RETURN_IF_ERROR(
      AtLeast("max_message_bytes", kMinMessageBytes, message.max_message_bytes()));
  OPSERVE_RETURN_IF_ERROR(
      AtLeast("recommended_chunk_bytes", kMinChunkBytes, message.recommended_chunk_bytes()));
  OPSERVE_RETURN_IF_ERROR(AtLeast("max_skew_bytes", kMinChunkBytes, message.max_skew_bytes()));
  return SessionInfo{.memory_limit_bytes = message.memory_limit_bytes(),
                     .max_handles = message.max_handles(),
                     .max_queued_commands = message.max_queued_commands(),
                     .window_bytes = message.window_bytes(),
                     .max_skew_bytes = message.max_skew_bytes(),
                     .recommended_chunk_bytes = message.recommended_chunk_bytes(),
                     .max_message_bytes = message.max_message_bytes()};
}

absl::Status ReadSessionMessage(const Fragments& bytes, SessionMessage& message) {
  std::string header;
  SessionAnswer alone;
  OPSERVE_RETURN_IF_ERROR(Split(bytes, header, alone.raw));
  OPSERVE_RETURN_IF_ERROR(ReadMessage(header, alone.message));
  if (alone.message.answers_size() > 0) {
    if (!IsPlainGroup(alone))
      return BadAnswer(kSessionAnswer, "a group with other fields beside it");
    message.group = std::move(alone.message);
    return ReadGroup(message);
  }
  Complete(alone);
  message.answers.push_back(std::move(alone));
  return absl::OkStatus();
}

}  // namespace opserve::client
