#include "tests/bench/e2e/stream_answer.h"

#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/io/coded_stream.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {
namespace {

using google::protobuf::io::CodedInputStream;
using TakeAnswer = absl::FunctionRef<void(const StreamAnswer&)>;

constexpr uint32_t BytesTag(int field) { return static_cast<uint32_t>(field) << 3 | 2; }
constexpr uint32_t VarintTag(int field) { return static_cast<uint32_t>(field) << 3; }

constexpr uint32_t kAnswersTag = BytesTag(v1::SessionResponse::kAnswersFieldNumber);
constexpr uint32_t kRawTag = BytesTag(v1::SessionResponse::kRawFieldNumber);

// An answer that has bytes is hardly larger without them.
constexpr size_t kStartBytes = 128;

std::optional<StreamAnswer> ReadEcho(std::string_view start) {
  EchoHeader header;
  if (!ReadEchoHeader(start, header)) return std::nullopt;
  return StreamAnswer{.id = header.sequence, .more = header.answers > 0};
}

// Its own fields come first, in order: what follows `error` does not matter here.
std::optional<StreamAnswer> ReadAnswer(std::string_view bytes) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                         static_cast<int>(bytes.size()));
  StreamAnswer answer;
  for (;;) {
    uint64_t value = 0;
    const uint32_t tag = input.ReadTag();
    if (tag == VarintTag(v1::Answer::kIdFieldNumber)) {
      if (!input.ReadVarint64(&answer.id)) return std::nullopt;
    } else if (tag == VarintTag(v1::Answer::kMoreFieldNumber)) {
      if (!input.ReadVarint64(&value)) return std::nullopt;
      answer.more = value != 0;
    } else {
      answer.failed = tag >> 3 == v1::Answer::kErrorFieldNumber;
      return answer;
    }
  }
}

// The contents of a length-delimited field, whose tag was just read from `input`; nullopt where
// `bytes` ends before the contents do.
std::optional<std::string_view> ReadContent(std::string_view bytes, CodedInputStream& input) {
  uint32_t size = 0;
  if (!input.ReadVarint32(&size)) return std::nullopt;
  const auto at = static_cast<size_t>(input.CurrentPosition());
  if (size > bytes.size() - at || !input.Skip(static_cast<int>(size))) return std::nullopt;
  return bytes.substr(at, size);
}

// The answer in `start`, the beginning of a message, where it is the message's only one: the end
// follows, or bytes do.
std::optional<std::string_view> OnlyAnswer(std::string_view start, size_t message_bytes) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(start.data()),
                         static_cast<int>(start.size()));
  if (input.ReadTag() != kAnswersTag) return std::nullopt;
  const std::optional<std::string_view> answer = ReadContent(start, input);
  const bool is_end = static_cast<size_t>(input.CurrentPosition()) == message_bytes;
  if (!answer.has_value() || (!is_end && input.ReadTag() != kRawTag)) return std::nullopt;
  return answer;
}

bool ForEachAnswerIn(std::string_view message, TakeAnswer take) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()),
                         static_cast<int>(message.size()));
  uint32_t tag = input.ReadTag();
  for (; tag == kAnswersTag; tag = input.ReadTag()) {
    const std::optional<std::string_view> bytes = ReadContent(message, input);
    if (!bytes.has_value()) return false;
    const std::optional<StreamAnswer> answer = ReadAnswer(*bytes);
    if (!answer.has_value()) return false;
    take(*answer);
  }
  return tag == 0 || tag == kRawTag;
}

}  // namespace

bool ForEachAnswer(Peer peer, const Answer& message, TakeAnswer take) {
  const std::string start = message.Prefix(kStartBytes);
  std::optional<StreamAnswer> only;
  if (peer == Peer::kEcho) {
    only = ReadEcho(start);
  } else {
    const std::optional<std::string_view> bytes = OnlyAnswer(start, message.size_bytes());
    if (!bytes.has_value()) return ForEachAnswerIn(message.Prefix(message.size_bytes()), take);
    only = ReadAnswer(*bytes);
  }
  if (only.has_value()) take(*only);
  return only.has_value();
}

}  // namespace opserve::bench
