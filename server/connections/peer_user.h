// Which user of this machine is at the other end of a connection.
#pragma once

#include <optional>
#include <string_view>

#include <sys/socket.h>
#include <sys/types.h>

namespace opserve::server {

// By SO_PEERCRED of a unix socket; by the kernel's list of sockets of TCP over loopback. nullopt
// where that does not tell: the peer is another machine, or has closed its end, or its user has no
// number here. Takes as long as there are sockets.
std::optional<uid_t> PeerUser(int socket);

// The owner of the established TCP socket whose own address is `local` and whose peer is `remote`,
// in `list`: lines as /proc/net/tcp and tcp6 have them.
std::optional<uid_t> OwnerInList(std::string_view list, const sockaddr_storage& local,
                                 const sockaddr_storage& remote);

}  // namespace opserve::server
