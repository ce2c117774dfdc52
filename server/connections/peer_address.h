// Where a connection comes from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include "core/base/client_id.h"

namespace opserve::server {

// An IP address and a port, or a unix socket, of which all clients are alike. A value.
class PeerAddress {
 public:
  // What gRPC calls a peer: "ipv4:127.0.0.1:40000", "ipv6:%5B::1%5D:40000", "unix:…". Anything
  // else is like a unix socket.
  static PeerAddress Parse(std::string_view peer);
  static PeerAddress Of(const sockaddr_storage& address);

  // False for a unix socket: then the address says nothing of the connection.
  bool is_ip() const { return is_ip_; }
  // Whom its work is charged to: the IPv4 address; of IPv6 addresses the first 64 bits, as one host
  // may have all that begin with them; all unix sockets together.
  ClientId client() const;
  // For people, without the port: "127.0.0.1", "::1", "unix".
  std::string host() const;
  // As Parse reads it.
  std::string text() const;

  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const PeerAddress& address) {
    return H::combine(std::move(state), address.is_ip_, address.port_, address.bytes_);
  }

 private:
  bool is_ipv4() const;

  bool is_ip_ = false;
  uint16_t port_ = 0;
  std::array<uint8_t, 16> bytes_ = {};  // an IPv6 address, or an IPv4 one mapped into them
};

}  // namespace opserve::server
