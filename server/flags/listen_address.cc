#include "server/flags/listen_address.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/connections/unix_socket.h"

namespace opserve::server {
namespace {

constexpr std::string_view kUnix = "unix:";

bool AllWithin(std::string_view text, char first, char last) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [=](char c) { return c >= first && c <= last; });
}

bool IsPort(std::string_view text) {
  int port = -1;
  return AllWithin(text, '0', '9') && absl::SimpleAtoi(ToAbsl(text), &port) && port <= 65535;
}

bool IsHostAndPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool plain = !host.empty() && host.find_first_of(":[]/") == std::string_view::npos;
  return colon != std::string_view::npos && (bracketed || plain) &&
         IsPort(address.substr(colon + 1));
}

// Two servers on one address: the second would take the first one's socket away.
absl::Status CheckDistinct(const std::vector<std::string>& addresses) {
  std::set<std::string> seen;
  for (const std::string& address : addresses) {
    if (address.ends_with(":0") && UnixSocketPath(address).empty()) continue;
    const std::string path = UnixSocketPath(address);
    if (!seen.insert(path.empty() ? address : std::string(kUnix) + path).second)
      return InvalidParameter("--listen", "each address once", absl::StrCat(address, " twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckUnixAddress(std::string_view address, std::string_view flag) {
  const size_t bytes = UnixSocketPath(address).size();
  if (bytes >= 1 && bytes <= kMaxUnixSocketPath) return absl::OkStatus();
  return InvalidParameter(flag,
                          absl::StrCat("unix: and a path of 1 to ", kMaxUnixSocketPath, " bytes"),
                          Quoted(address));
}

absl::Status CheckListenAddresses(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) OPSERVE_RETURN_IF_ERROR(CheckListenAddress(address));
  return CheckDistinct(addresses);
}

absl::StatusOr<mode_t> ParseSocketMode(const std::string& text) {
  constexpr mode_t kLeast = 0600;
  constexpr size_t kDigits = 4;
  if (AllWithin(text, '0', '7') && text.size() <= kDigits) {
    mode_t mode = 0;
    for (const char digit : text) mode = mode * 8 + static_cast<mode_t>(digit - '0');
    if ((mode & kLeast) == kLeast && mode <= 0777) return mode;
  }
  return InvalidParameter("--unix-socket-mode",
                          "an octal mode from 0600 to 0777 that has 0600, such as 0660",
                          Quoted(text));
}

std::string FormatSocketMode(mode_t mode) { return absl::StrFormat("%04o", mode); }

absl::StatusOr<std::string> ParseHttpAddress(std::string_view text) {
  if (IsPort(text)) return std::string("localhost:").append(text);
  if (IsHostAndPort(text)) return std::string(text);
  return InvalidParameter("--http", "a port of 0 to 65535, or host:port", Quoted(text));
}

absl::Status CheckListenAddress(std::string_view address) {
  if (address.starts_with(kUnix)) return CheckUnixAddress(address, "--listen");
  if (IsHostAndPort(address)) return absl::OkStatus();
  return InvalidParameter("--listen", "host:port with a port of 0 to 65535, or unix:path",
                          Quoted(address));
}

}  // namespace opserve::server
