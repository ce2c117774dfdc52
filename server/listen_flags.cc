#include "server/listen_flags.h"

#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/config.h"
#include "server/connections/unix_socket.h"

namespace opserve::server {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr char kModeFlag[] = "--unix-socket-mode";

bool AllWithin(std::string_view text, char first, char last) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [=](char c) { return c >= first && c <= last; });
}

bool IsPort(std::string_view text) {
  int port = -1;
  return AllWithin(text, '0', '9') && absl::SimpleAtoi(ToAbsl(text), &port) && port <= 65535;
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

// Its own user must be able to connect, which takes reading and writing.
absl::StatusOr<mode_t> ParseMode(const std::string& text) {
  constexpr mode_t kLeast = 0600;
  constexpr size_t kDigits = 4;
  if (AllWithin(text, '0', '7') && text.size() <= kDigits) {
    mode_t mode = 0;
    for (const char digit : text) mode = mode * 8 + static_cast<mode_t>(digit - '0');
    if ((mode & kLeast) == kLeast && mode <= 0777) return mode;
  }
  return InvalidParameter(kModeFlag, "an octal mode from 0600 to 0777 that has 0600, such as 0660",
                          Quoted(text));
}

}  // namespace

void AddListenFlags(CLI::App& app, ListenFlagTexts& texts) {
  app.add_option("--listen", texts.addresses,
                 "Address to serve on: host:port (port 0 = a free one) or unix:path. Repeatable.")
      ->allow_extra_args(false)
      ->default_str(texts.addresses.front())
      ->type_name("ADDRESS")
      ->group("Network");
  app.add_option(
         kModeFlag, texts.unix_socket_mode,
         "Who may connect to unix:path, here and of --allow-shared-memory: the file's mode,\n"
         "in octal, whatever the umask. 0660 lets the group in, 0666 everyone.")
      ->capture_default_str()
      ->type_name("MODE")
      ->group("Network");
  app.add_option("--port-file", texts.port_file,
                 "Once all addresses are bound, write them to this file, one a line, atomically.")
      ->capture_default_str()
      ->type_name("PATH")
      ->group("Network");
}

absl::Status InterpretListenFlags(const ListenFlagTexts& texts, ServerConfig& config) {
  for (const std::string& address : texts.addresses)
    OPSERVE_RETURN_IF_ERROR(CheckListenAddress(address));
  OPSERVE_RETURN_IF_ERROR(CheckDistinct(texts.addresses));
  config.listen = texts.addresses;
  config.port_file = texts.port_file;
  OPSERVE_ASSIGN_OR_RETURN(config.unix_socket_mode, ParseMode(texts.unix_socket_mode));
  return absl::OkStatus();
}

absl::Status CheckListenAddress(std::string_view address) {
  if (address.substr(0, kUnix.size()) == kUnix) {
    const size_t length = address.size() - kUnix.size();
    if (length >= 1 && length <= kMaxUnixSocketPath) return absl::OkStatus();
    return InvalidParameter("--listen",
                            absl::StrCat("unix: and a path of 1 to ", kMaxUnixSocketPath, " bytes"),
                            Quoted(address));
  }
  const size_t colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool plain = !host.empty() && host.find_first_of(":[]/") == std::string_view::npos;
  if (colon != std::string_view::npos && (bracketed || plain) && IsPort(address.substr(colon + 1)))
    return absl::OkStatus();
  return InvalidParameter("--listen", "host:port with a port of 0 to 65535, or unix:path",
                          Quoted(address));
}

}  // namespace opserve::server
