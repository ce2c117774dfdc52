#include "server/http/port/http_connections.h"

#include <poll.h>
#include <sys/socket.h>

namespace opserve::server {
namespace {

// Its owner reads the end of the connection, and closes it. What its client did not take yet is
// dropped, or the system would keep it.
void CutConnection(HttpConnections::Connection& connection) {
  connection.is_cut = true;
  const linger drop = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.socket, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
  ::shutdown(connection.socket, SHUT_RDWR);
}

bool HasLeft(const HttpConnections::Connection& connection) {
  pollfd ended = {.fd = connection.socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&ended, 1, 0) > 0;
}

}  // namespace

HttpConnections::Connection& HttpConnections::Add(int socket, ClientId client, absl::Time now) {
  return connections_.emplace_back(Connection{.socket = socket, .client = client, .since = now});
}

void HttpConnections::Remove(const Connection& connection) {
  connections_.remove_if([&](const Connection& each) { return &each == &connection; });
}

size_t HttpConnections::CountOf(ClientId client) const {
  size_t count = 0;
  for (const Connection& each : connections_) count += !each.is_cut && each.client == client;
  return count;
}

void HttpConnections::CutOne() {
  Connection* chosen = nullptr;
  size_t most = 0;
  for (Connection& each : connections_) {
    if (each.is_cut || each.is_waiting) continue;
    const size_t count = CountOf(each.client);
    if (count < most || (count == most && each.since >= chosen->since)) continue;
    chosen = &each;
    most = count;
  }
  if (chosen != nullptr) CutConnection(*chosen);
}

void HttpConnections::CutThoseSince(absl::Time before) {
  for (Connection& each : connections_) {
    if (!each.is_cut && !each.is_waiting && each.since + each.extra <= before) CutConnection(each);
  }
}

void HttpConnections::CutThoseLeftSince(absl::Time before) {
  for (Connection& each : connections_) {
    if (!each.is_cut && !each.is_waiting && each.since <= before && HasLeft(each))
      CutConnection(each);
  }
}

}  // namespace opserve::server
