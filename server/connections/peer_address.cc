#include "server/connections/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace opserve::server {
namespace {

constexpr size_t kMappedPrefix = 12;  // ::ffff:0:0/96
constexpr size_t kNetworkBytes = 8;

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool ParsePort(std::string_view text, uint16_t& port) {
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, port);
  return result.ec == std::errc() && result.ptr == end;
}

std::array<uint8_t, 16> Mapped(const in_addr& address) {
  std::array<uint8_t, 16> bytes = {};
  bytes[10] = bytes[11] = 0xff;
  std::memcpy(bytes.data() + kMappedPrefix, &address, sizeof(address));
  return bytes;
}

}  // namespace

PeerAddress PeerAddress::Parse(std::string_view peer) {
  const bool is_v4 = TakePrefix(peer, "ipv4:");
  if (!is_v4 && !TakePrefix(peer, "ipv6:")) return {};
  const size_t colon = peer.rfind(':');
  if (colon == std::string_view::npos) return {};
  PeerAddress address;
  if (!ParsePort(peer.substr(colon + 1), address.port_)) return {};
  std::string_view host = peer.substr(0, colon);
  if (!is_v4) {
    if (!TakePrefix(host, "%5B") && !TakePrefix(host, "[")) return {};
    const size_t end = host.find_first_of("]%");
    if (end == std::string_view::npos) return {};
    host = host.substr(0, end);
  }
  const std::string text(host);
  in_addr v4 = {};
  if (is_v4 && ::inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    address.bytes_ = Mapped(v4);
  } else if (is_v4 || ::inet_pton(AF_INET6, text.c_str(), address.bytes_.data()) != 1) {
    return {};
  }
  address.is_ip_ = true;
  return address;
}

PeerAddress PeerAddress::Of(const sockaddr_storage& address) {
  PeerAddress peer;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, &address, sizeof(v4));
    peer.bytes_ = Mapped(v4.sin_addr);
    peer.port_ = ntohs(v4.sin_port);
    peer.is_ip_ = true;
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, &address, sizeof(v6));
    std::memcpy(peer.bytes_.data(), &v6.sin6_addr, peer.bytes_.size());
    peer.port_ = ntohs(v6.sin6_port);
    peer.is_ip_ = true;
  }
  return peer;
}

bool PeerAddress::is_ipv4() const {
  const std::array<uint8_t, 16> prefix = Mapped({});
  return is_ip_ && std::equal(prefix.begin(), prefix.begin() + kMappedPrefix, bytes_.begin());
}

ClientId PeerAddress::client() const {
  std::array<uint8_t, 16> network = bytes_;
  if (!is_ipv4()) std::fill(network.begin() + kNetworkBytes, network.end(), uint8_t{0});
  // 0 is ClientId::kNone.
  return ClientId{std::max<uint64_t>(1, absl::HashOf(is_ip_, network))};
}

std::string PeerAddress::host() const {
  if (!is_ip_) return "unix";
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* start = is_ipv4() ? bytes_.data() + kMappedPrefix : bytes_.data();
  ::inet_ntop(is_ipv4() ? AF_INET : AF_INET6, start, text.data(), text.size());
  return text.data();
}

std::string PeerAddress::text() const {
  if (!is_ip_) return "unix:";
  return is_ipv4() ? absl::StrCat("ipv4:", host(), ":", port_)
                   : absl::StrCat("ipv6:%5B", host(), "%5D:", port_);
}

}  // namespace opserve::server
