#include "server/connections/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/connections/unix_socket.h"

namespace opserve::server {
namespace {

constexpr int kBacklog = 4096;  // the system's own bound is applied to it
// A port that is free for one address of a name may be taken for another.
constexpr int kTriesForPortZero = 8;

// Where a server is to listen, and which flag says so.
struct Wanted {
  const std::string& address;
  std::string_view flag;
};

absl::Status CannotListen(const Wanted& wanted, std::string_view why) {
  return InvalidParameter(wanted.flag, "an address that can be bound",
                          absl::StrCat(wanted.address, ", which cannot: ", std::string(why)));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

absl::StatusOr<Addresses> Resolve(const Wanted& wanted) {
  const std::string& address = wanted.address;
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &list);
  if (code == 0) return Addresses(list);
  return CannotListen(wanted, code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code));
}

void SetPort(sockaddr_storage& address, uint16_t port) {
  // Both have it at the same place.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
}

uint16_t PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

struct Bound {
  UniqueFd socket;
  int error = 0;  // errno
};

// `port` 0: that of the address.
Bound BindTcp(const addrinfo& info, uint16_t port) {
  UniqueFd socket(
      ::socket(info.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.is_open()) return {.error = errno};
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_storage address = {};
  std::memcpy(&address, info.ai_addr, info.ai_addrlen);
  if (info.ai_family == AF_INET6) {
    // [::] stands for IPv4, too; any other address for itself.
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    const int v6_only = IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) ? 0 : 1;
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
  }
  if (port != 0) SetPort(address, port);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), info.ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return {.error = errno};
  }
  return {.socket = std::move(socket)};
}

bool IsOfAnotherMachine(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

struct BoundAll {
  std::vector<Listener> listeners;
  uint16_t port = 0;
  int error = 0;
};

// Binds all that this machine has, on the port of the first.
BoundAll BindAll(const addrinfo* list) {
  BoundAll all;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    Bound bound = BindTcp(*info, all.port);
    if (bound.socket.is_open()) {
      all.port = PortOf(bound.socket.get());
      all.listeners.push_back({.socket = std::move(bound.socket)});
    } else {
      all.error = bound.error;
      if (!IsOfAnotherMachine(bound.error)) return all;
    }
  }
  if (!all.listeners.empty()) all.error = 0;
  return all;
}

absl::StatusOr<Listening> ListenTcp(const Wanted& wanted) {
  const std::string& address = wanted.address;
  OPSERVE_ASSIGN_OR_RETURN(const Addresses list, Resolve(wanted));
  BoundAll all;
  for (int i = 0; i < kTriesForPortZero; ++i) {
    all = BindAll(list.get());
    if (all.error != EADDRINUSE || !address.ends_with(":0")) break;
  }
  if (all.error != 0) return CannotListen(wanted, std::strerror(all.error));
  return Listening{.listeners = std::move(all.listeners),
                   .address = absl::StrCat(address.substr(0, address.rfind(':')), ":", all.port)};
}

absl::StatusOr<Listening> ListenUnix(const Wanted& wanted, const std::string& path, mode_t mode) {
  OPSERVE_RETURN_IF_ERROR(RemoveStaleSocket(path, wanted.flag));
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) return CannotListen(wanted, "its path is too long");
  std::memcpy(name.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Nobody can connect before listen, so the permissions are right in time.
  if (!socket.is_open() ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0) {
    return CannotListen(wanted, std::strerror(errno));
  }
  if (::chmod(path.c_str(), mode) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    const absl::Status status = CannotListen(wanted, std::strerror(errno));
    RemoveSocket(path);
    return status;
  }
  Listening listening{.listeners = {}, .address = wanted.address};
  listening.listeners.push_back({.socket = std::move(socket), .is_unix = true});
  return listening;
}

}  // namespace

absl::StatusOr<Listening> Listen(const std::string& address, mode_t unix_mode,
                                 std::string_view flag) {
  const std::string path = UnixSocketPath(address);
  const Wanted wanted{.address = address, .flag = flag};
  return path.empty() ? ListenTcp(wanted) : ListenUnix(wanted, path, unix_mode);
}

}  // namespace opserve::server
