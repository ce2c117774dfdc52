#include "server/connections/frame_watch.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace opserve::server {
namespace {

// A client that waits for answers has less on its way, unless it sends tensors.
constexpr int64_t kMuchUnread = 64 << 10;
constexpr size_t kLookedAt = size_t{128} << 10;

// More than gRPC reads of messages that nobody asks for: its flow-control window grows to 16 MiB.
constexpr int64_t kMostUnasked = int64_t{20} << 20;
// Of small messages, at least so much of what came is their content.
constexpr int64_t kContentPart = 4;

constexpr std::string_view ReasonOf(FrameFlood flood) {
  if (flood == FrameFlood::kEmptyFrames) return "a flood of frames that carry nothing";
  if (flood == FrameFlood::kEndlessHeaders) return "a header block without an end";
  if (flood == FrameFlood::kLargeHeaders) return "a flood of large headers without messages";
  return "a message in hundreds of small frames";
}

int64_t UnreadBytes(const Connection& connection) {
  int unread = 0;
  return ::ioctl(connection.socket(), FIONREAD, &unread) == 0 ? unread : 0;
}

}  // namespace

FrameWatch::FrameWatch(const ConnectionTable& connections)
    : connections_(connections), bytes_(kLookedAt, '\0') {}

void FrameWatch::Check() {
  Marks marks;
  for (const std::shared_ptr<Connection>& connection : connections_.All()) {
    const int64_t unread_bytes = UnreadBytes(*connection);
    const FrameFlood flood = LookAt(*connection, unread_bytes);
    if (flood == FrameFlood::kNone) continue;
    if (flood == FrameFlood::kSmallMessages && !AreNoMessages(connection, unread_bytes, marks))
      continue;
    connections_.Expel(*connection, ReasonOf(flood), ConnectionTable::kFloodBar);
  }
  marks_ = std::move(marks);
}

FrameFlood FrameWatch::LookAt(const Connection& connection, int64_t unread_bytes) {
  if (unread_bytes < kMuchUnread) return FrameFlood::kNone;
  const ssize_t size =
      ::recv(connection.socket(), bytes_.data(), bytes_.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return FrameFlood::kNone;
  return FindFlood({bytes_.data(), static_cast<size_t>(size)});
}

bool FrameWatch::AreNoMessages(const std::shared_ptr<Connection>& connection, int64_t unread_bytes,
                               Marks& marks) const {
  const Mark now = {.read_bytes = connection->received_bytes() - unread_bytes,
                    .message_bytes = connection->message_bytes()};
  const auto first = marks_.find(connection);
  const Mark mark = first == marks_.end() ? now : first->second;
  const int64_t read_bytes = now.read_bytes - mark.read_bytes;
  const bool are_messages = (now.message_bytes - mark.message_bytes) * kContentPart >= read_bytes;
  marks[connection] = are_messages ? now : mark;
  return !are_messages && read_bytes > kMostUnasked;
}

}  // namespace opserve::server
