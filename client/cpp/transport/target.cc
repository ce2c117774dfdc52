#include "client/cpp/transport/target.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/numbers.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr std::array<std::string_view, 7> kSchemes = {
    "unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:", "vsock:", "xds:"};

bool IsPort(std::string_view text) {
  int port = 0;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && absl::SimpleAtoi(ToAbsl(text), &port) && port >= 1 && port <= 65535;
}

bool IsHostAndPort(std::string_view target) {
  const size_t colon = target.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view host = target.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool plain = !host.empty() && host.find_first_of(":[]/ ") == std::string_view::npos;
  return (bracketed || plain) && IsPort(target.substr(colon + 1));
}

}  // namespace

absl::Status CheckTarget(std::string_view target) {
  for (const std::string_view scheme : kSchemes) {
    if (target.size() > scheme.size() && target.starts_with(scheme)) return absl::OkStatus();
  }
  if (IsHostAndPort(target)) return absl::OkStatus();
  return InvalidParameter("target", "host:port with a port of 1 to 65535, or unix:path",
                          target.empty() ? "nothing" : std::string("'").append(target).append("'"));
}

}  // namespace opserve::client
