// Which addresses a socket has.
#pragma once

#include "server/connections/peer_address.h"

namespace opserve::server {

// Whether a listening socket can be reached from this machine alone.
bool IsOnLoopback(int listener);

// The other end of a connection.
PeerAddress PeerOf(int socket);

}  // namespace opserve::server
