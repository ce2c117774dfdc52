#include "server/http/port/host_name.h"

#include <arpa/inet.h>

#include <string>

#include "absl/strings/match.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

bool IsAddress(int family, std::string_view text) {
  in6_addr address = {};
  return ::inet_pton(family, std::string(text).c_str(), &address) == 1;
}

}  // namespace

bool IsLocalHostHeader(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end != std::string_view::npos && IsAddress(AF_INET6, host.substr(1, end - 1));
  }
  const std::string_view name = host.substr(0, host.find(':'));
  return absl::EqualsIgnoreCase(ToAbsl(name), "localhost") || IsAddress(AF_INET, name);
}

}  // namespace opserve::server
