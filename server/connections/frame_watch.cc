#include "server/connections/frame_watch.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/connections/frame_scan.h"

namespace opserve::server {
namespace {

// A client that waits for answers has less on its way, unless it sends tensors.
constexpr int kMuchUnread = 64 << 10;
constexpr size_t kLookedAt = size_t{128} << 10;

constexpr std::string_view ReasonOf(FrameFlood flood) {
  if (flood == FrameFlood::kEmptyFrames) return "a flood of frames that carry nothing";
  if (flood == FrameFlood::kEndlessHeaders) return "a header block without an end";
  return "a flood of large headers without messages";
}

}  // namespace

FrameWatch::FrameWatch(const ConnectionTable& connections)
    : connections_(connections), bytes_(kLookedAt, '\0') {}

void FrameWatch::Check() {
  for (const std::shared_ptr<Connection>& connection : connections_.All()) {
    int unread = 0;
    if (::ioctl(connection->socket(), FIONREAD, &unread) != 0 || unread < kMuchUnread) continue;
    const ssize_t size =
        ::recv(connection->socket(), bytes_.data(), bytes_.size(), MSG_PEEK | MSG_DONTWAIT);
    if (size <= 0) continue;
    const FrameFlood flood = FindFlood({bytes_.data(), static_cast<size_t>(size)});
    if (flood != FrameFlood::kNone)
      connections_.Expel(*connection, ReasonOf(flood), ConnectionTable::kFloodBar);
  }
}

}  // namespace opserve::server
