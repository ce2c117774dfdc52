#include "server/connections/connection.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "server/connections/peer_user.h"

namespace opserve::server {
namespace {

// The part of the bytes that came and are of no message that is taken for frames and headers, each
// second: a message that is under way for minutes would be forgotten.
constexpr int64_t kSettledPart = 300;

// Of a connection that is cut, in reads: more than a socket holds unread.
constexpr int kMostUnread = 256;

}  // namespace

Connection::Connection(UniqueFd socket, const PeerAddress& peer, absl::Time now)
    : socket_(std::move(socket)), peer_(peer), client_(peer.client()), opened_(now) {}

std::optional<uid_t> Connection::user() const {
  std::call_once(user_asked_, [this] { user_ = PeerUser(socket_.get()); });
  return user_;
}

int64_t Connection::received_bytes() const {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (::getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return static_cast<int64_t>(info.tcpi_bytes_received);
}

int64_t Connection::unfinished_bytes() const {
  const int64_t other =
      received_bytes() - message_bytes() - overhead_bytes_.load(std::memory_order_relaxed);
  return std::max<int64_t>(other, 0);
}

void Connection::Settle() {
  const int64_t other = received_bytes() - message_bytes_.load(std::memory_order_relaxed);
  const int64_t overhead = overhead_bytes_.load(std::memory_order_relaxed);
  // Small messages are counted by samples, so it may be too many.
  const int64_t more = other < overhead ? other - overhead : (other - overhead) / kSettledPart;
  overhead_bytes_.store(overhead + more, std::memory_order_relaxed);
}

bool Connection::Cut() const {
  if (is_cut_.exchange(true)) return false;
  ::shutdown(socket_.get(), SHUT_RDWR);
  // What came before is still there to be read, and gRPC would work it all off.
  std::array<char, size_t{64} << 10> unread = {};
  for (int i = 0; i < kMostUnread; ++i) {
    if (::recv(socket_.get(), unread.data(), unread.size(), MSG_DONTWAIT) <= 0) break;
  }
  return true;
}

}  // namespace opserve::server
