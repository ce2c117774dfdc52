#include "server/connections/peer_user.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace opserve::server {
namespace {

// What the kernel calls users that have no number in this process's namespace.
constexpr uid_t kOverflowUser = 65534;
// As the lists have it.
constexpr std::string_view kEstablished = "01";
constexpr size_t kWordBytes = 4;

struct Endpoint {
  std::array<uint8_t, 16> address = {};  // of IPv6, or an IPv4 one mapped into them
  uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

void Map(const void* v4, Endpoint& out) {
  out.address[10] = out.address[11] = 0xff;
  std::memcpy(out.address.data() + 12, v4, kWordBytes);
}

std::optional<Endpoint> EndpointOf(const sockaddr_storage& address) {
  Endpoint out;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, &address, sizeof(v4));
    Map(&v4.sin_addr, out);
    out.port = ntohs(v4.sin_port);
    return out;
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6 = {};
  std::memcpy(&v6, &address, sizeof(v6));
  std::memcpy(out.address.data(), &v6.sin6_addr, out.address.size());
  out.port = ntohs(v6.sin6_port);
  return out;
}

bool IsLoopback(const Endpoint& endpoint) {
  static constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(endpoint.address.data(), kMapped.data(), kMapped.size()) == 0)
    return endpoint.address[12] == 127;
  return std::memcmp(endpoint.address.data(), &in6addr_loopback, endpoint.address.size()) == 0;
}

template <typename T>
bool ParseNumber(std::string_view text, int base, T& out) {
  const char* end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, out, base);
  return read.ec == std::errc() && read.ptr == end;
}

// "0100007F:1F90": words of the address as this machine has numbers, then the port.
std::optional<Endpoint> ParseEndpoint(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != 2 * kWordBytes && colon != 8 * kWordBytes) return std::nullopt;
  Endpoint out;
  std::array<uint32_t, 4> words = {};
  const size_t count = colon / (2 * kWordBytes);
  for (size_t i = 0; i < count; ++i) {
    if (!ParseNumber(text.substr(i * 2 * kWordBytes, 2 * kWordBytes), 16, words[i]))
      return std::nullopt;
  }
  if (!ParseNumber(text.substr(colon + 1), 16, out.port)) return std::nullopt;
  if (count == 1) {
    Map(words.data(), out);
  } else {
    std::memcpy(out.address.data(), words.data(), out.address.size());
  }
  return out;
}

std::optional<uid_t> Known(uid_t user) {
  if (user == kOverflowUser || user == static_cast<uid_t>(-1)) return std::nullopt;
  return user;
}

// Small reads would walk the kernel's table again and again.
std::string ReadList(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<uid_t> OwnerInList(std::string_view list, const sockaddr_storage& local,
                                 const sockaddr_storage& remote) {
  constexpr size_t kLocal = 1;
  constexpr size_t kRemote = 2;
  constexpr size_t kState = 3;
  constexpr size_t kUser = 7;
  const std::optional<Endpoint> from = EndpointOf(local);
  const std::optional<Endpoint> to = EndpointOf(remote);
  if (!from.has_value() || !to.has_value()) return std::nullopt;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(list.data(), list.size()), '\n')) {
    const std::vector<absl::string_view> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const auto column = [&columns](size_t i) {
      return std::string_view(columns[i].data(), columns[i].size());
    };
    if (columns.size() <= kUser || column(kState) != kEstablished) continue;
    if (ParseEndpoint(column(kLocal)) != from || ParseEndpoint(column(kRemote)) != to) continue;
    uid_t user = 0;
    return ParseNumber(column(kUser), 10, user) ? Known(user) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<uid_t> PeerUser(int socket) {
  sockaddr_storage own = {};
  sockaddr_storage peer = {};
  socklen_t bytes = sizeof(own);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return std::nullopt;
  if (own.ss_family == AF_UNIX) {
    ucred credentials = {};
    bytes = sizeof(credentials);
    const bool is_told = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0;
    return is_told ? Known(credentials.uid) : std::nullopt;
  }
  bytes = sizeof(peer);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) return std::nullopt;
  const std::optional<Endpoint> remote = EndpointOf(peer);
  if (!remote.has_value() || !IsLoopback(*remote)) return std::nullopt;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    const std::optional<uid_t> user = OwnerInList(ReadList(path), peer, own);
    if (user.has_value()) return user;
  }
  return std::nullopt;
}

}  // namespace opserve::server
