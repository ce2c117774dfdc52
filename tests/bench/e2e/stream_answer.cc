#include "tests/bench/e2e/stream_answer.h"

#include "google/protobuf/io/coded_stream.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {
namespace {

using google::protobuf::io::CodedInputStream;
using v1::SessionResponse;

constexpr uint32_t kGroupTag = SessionResponse::kAnswersFieldNumber << 3 | 2;

constexpr uint32_t VarintTag(int field) { return static_cast<uint32_t>(field) << 3; }

std::optional<StreamAnswer> ReadEcho(std::string_view start) {
  EchoHeader header;
  if (!ReadEchoHeader(start, header)) return std::nullopt;
  return StreamAnswer{.id = header.sequence, .more = header.answers > 0};
}

// Its own fields come first, in order: what follows `error` does not matter here.
std::optional<StreamAnswer> ReadSession(std::string_view start) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(start.data()),
                         static_cast<int>(start.size()));
  StreamAnswer answer;
  for (;;) {
    uint64_t value = 0;
    const uint32_t tag = input.ReadTag();
    if (tag == VarintTag(SessionResponse::kIdFieldNumber)) {
      if (!input.ReadVarint64(&answer.id)) return std::nullopt;
    } else if (tag == VarintTag(SessionResponse::kMoreFieldNumber)) {
      if (!input.ReadVarint64(&value)) return std::nullopt;
      answer.more = value != 0;
    } else {
      answer.failed = tag >> 3 == SessionResponse::kErrorFieldNumber;
      return answer;
    }
  }
}

}  // namespace

std::optional<StreamAnswer> ReadStreamAnswer(Peer peer, std::string_view start) {
  return peer == Peer::kEcho ? ReadEcho(start) : ReadSession(start);
}

bool IsGroup(std::string_view start) {
  return !start.empty() && static_cast<uint8_t>(start[0]) == kGroupTag;
}

bool ForEachOfGroup(std::string_view group, absl::FunctionRef<void(std::string_view)> take) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(group.data()),
                         static_cast<int>(group.size()));
  while (const uint32_t tag = input.ReadTag()) {
    uint32_t bytes = 0;
    if (tag != kGroupTag || !input.ReadVarint32(&bytes)) return false;
    const auto at = static_cast<size_t>(input.CurrentPosition());
    if (bytes > group.size() - at || !input.Skip(static_cast<int>(bytes))) return false;
    take(group.substr(at, bytes));
  }
  return true;
}

}  // namespace opserve::bench
