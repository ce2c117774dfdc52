#include "server/http/port/socket_ends.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace opserve::server {

bool IsOnLoopback(int listener) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address.ss_family != AF_INET6) return false;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

PeerAddress PeerOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return PeerAddress::Of(address);
}

}  // namespace opserve::server
