#include "server/open_addresses.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "server/connections/unix_socket.h"

namespace opserve::server {
namespace {

bool IsLoopback(const in_addr& address) { return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET; }

bool IsLoopback(const in6_addr& address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return IN6_IS_ADDR_LOOPBACK(&address);
  return address.s6_addr[12] == IN_LOOPBACKNET;
}

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return IsLoopback(reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  if (address->sa_family == AF_INET6)
    return IsLoopback(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return false;
}

}  // namespace

bool IsOpenAddress(std::string_view address) {
  if (!UnixSocketPath(address).empty()) return false;
  std::string host(address.substr(0, address.rfind(':')));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (!IsLoopback(each->ai_addr)) return true;
  }
  return false;
}

std::vector<std::string> OpenAddresses(const std::vector<std::string>& addresses) {
  std::vector<std::string> open;
  std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(open), IsOpenAddress);
  return open;
}

absl::Status CheckNoneIsOpen(const std::vector<std::string>& addresses) {
  const std::vector<std::string> open = OpenAddresses(addresses);
  if (open.empty()) return absl::OkStatus();
  return InvalidParameter("--listen",
                          "loopback addresses and unix sockets, or TLS (--tls-cert and --tls-key), "
                          "or --insecure to do without",
                          absl::StrJoin(open, ", "));
}

}  // namespace opserve::server
