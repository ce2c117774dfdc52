#include "client/cpp/wire/session_answer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/read_message.h"
#include "client/cpp/wire/status_details.h"
#include "client/cpp/wire/wire_reader.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

// Of all answers in one message.
constexpr size_t kMaxEntries = 4096;

// Splits a message into its `raw` entries and the bytes of all other fields.
absl::Status Split(const Fragments& bytes, std::string& header, std::vector<Fragments>& raw) {
  WireReader reader(bytes);
  while (reader.remaining() > 0) {
    const size_t start = bytes.size_bytes() - reader.remaining();
    WireReader::Field field;
    if (!reader.ReadField(field)) return MalformedAnswer(kSessionAnswer);
    if (field.number == v1::SessionResponse::kRawFieldNumber &&
        field.type == WireReader::Type::kBytes) {
      if (raw.size() == kMaxEntries)
        return BadAnswer(kSessionAnswer, "raw", absl::StrCat("at most ", kMaxEntries, " entries"),
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

absl::Status ReadError(const google::rpc::Status& error) {
  absl::Status status = StatusFromWire(error);
  return status.ok() ? BadAnswer(kSessionAnswer, "error", "a code of an error", "OK") : status;
}

// The raw entries of a message, which go to the answers that use them.
class MessageEntries {
 public:
  explicit MessageEntries(std::vector<Fragments> entries)
      : entries_(std::move(entries)), given_(entries_.size()) {}

  absl::Status GiveTo(SessionAnswer& answer) {
    v1::Answer& message = answer.message;
    if (message.has_chunk()) {
      OPSERVE_RETURN_IF_ERROR(Give(message.chunk().raw_index(), answer));
      message.mutable_chunk()->set_raw_index(0);
    }
    if (!message.has_outputs()) return absl::OkStatus();
    for (v1::Tensor& output : *message.mutable_outputs()->mutable_outputs()) {
      if (!output.has_raw_index()) continue;
      OPSERVE_RETURN_IF_ERROR(Give(output.raw_index(), answer));
      output.set_raw_index(static_cast<uint32_t>(answer.raw.size() - 1));
    }
    return absl::OkStatus();
  }

  absl::Status CheckAllGiven() const {
    const auto unused = std::find(given_.begin(), given_.end(), false);
    if (unused == given_.end()) return absl::OkStatus();
    return BadAnswer(kSessionAnswer, "raw", "entries that answers use",
                     absl::StrCat("entry ", unused - given_.begin(), ", which none uses"));
  }

 private:
  absl::Status Give(uint32_t index, SessionAnswer& answer) {
    if (index >= entries_.size() || given_[index]) {
      return BadAnswer(kSessionAnswer, "raw_index",
                       absl::StrCat("one below ", entries_.size(), " that is its own"),
                       absl::StrCat(index));
    }
    given_[index] = true;
    answer.raw.push_back(std::move(entries_[index]));
    return absl::OkStatus();
  }

  std::vector<Fragments> entries_;
  std::vector<bool> given_;
};

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

absl::StatusOr<std::vector<SessionAnswer>> ReadSessionAnswers(const Fragments& bytes) {
  std::string header;
  std::vector<Fragments> raw;
  OPSERVE_RETURN_IF_ERROR(Split(bytes, header, raw));
  v1::SessionResponse message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(header, message));
  MessageEntries entries(std::move(raw));
  std::vector<SessionAnswer> answers(static_cast<size_t>(message.answers_size()));
  for (size_t i = 0; i < answers.size(); ++i) {
    SessionAnswer& answer = answers[i];
    answer.message = std::move(*message.mutable_answers(static_cast<int>(i)));
    answer.last = !answer.message.more();
    if (answer.message.has_error()) answer.status = ReadError(answer.message.error());
    OPSERVE_RETURN_IF_ERROR(entries.GiveTo(answer));
  }
  OPSERVE_RETURN_IF_ERROR(entries.CheckAllGiven());
  return answers;
}

}  // namespace opserve::client
