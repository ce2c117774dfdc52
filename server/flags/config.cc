#include "server/flags/config.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/usable_memory.h"
#include "server/connections/unix_socket.h"
#include "server/flags/server_flags.h"
#include "server/identity/certificates.h"

namespace opserve::server {
namespace {

constexpr int kBadFlags = 2;
// What the process takes besides what the limits bound.
constexpr int64_t kOwnMemoryBytes = int64_t{256} << 20;

void SetUp(CLI::App& app) {
  app.set_config("--config", "",
                 "Read flags from this file, a line each: max-message-bytes = \"64MiB\".\n"
                 "Flags on the command line win.")
      ->type_name("PATH")
      ->group("Configuration");
  app.set_help_flag("-h,--help", "Print this and exit.")->group("Configuration");
  app.set_version_flag("--version", "opserve-server " OPSERVE_VERSION,
                       "Print the version and exit.")
      ->group("Configuration");
  app.get_formatter()->column_width(30);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.allow_extras();  // refused below, in our words
  app.footer(
      "SIGTERM or SIGINT, after --grace-period, stops accepting, finishes what is in flight and "
      "exits 0; a second one "
      "exits at once.");
}

absl::Status CheckNoExtras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::string flag = extras[0].substr(0, extras[0].find('='));
  return InvalidParameter(flag, absl::StrCat("a flag that --help lists", DidYouMean(flag, names)),
                          "an unknown argument");
}

std::vector<FlagValue> FlagValues(const CLI::App& app) {
  std::vector<FlagValue> values;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name == "--help" || name == "--version") continue;
    const bool is_given = option->count() > 0;
    values.push_back(
        {.name = name,
         .value = is_given ? absl::StrJoin(option->results(), " ") : option->get_default_str(),
         .is_given = is_given});
  }
  return values;
}

// Three quarters of the memory that this process may use; more where the other limits ask for it.
// Under a sanitizer 0, as its own memory would count.
int64_t DefaultProcessMemoryLimitBytes([[maybe_unused]] int64_t other_limits_bytes) {
#ifdef OPSERVE_SANITIZED
  return 0;
#else
  return std::max(UsableMemoryBytes() / 4 * 3, other_limits_bytes + kOwnMemoryBytes);
#endif
}

// The defaults that follow from other flags.
void Derive(const FlagSet& flags, ServerConfig& config) {
  const int64_t memory = config.memory_limit_bytes;
  SessionLimits& session = config.session;
  ClientConfig& clients = config.clients;
  if (!flags.IsGiven("--session-memory-limit")) session.memory_limit_bytes = memory;
  if (!flags.IsGiven("--host-memory-limit")) clients.host_memory_limit_bytes = memory;
  if (!flags.IsGiven("--process-memory-limit")) {
    clients.process_memory_limit_bytes =
        DefaultProcessMemoryLimitBytes(memory + clients.host_memory_limit_bytes);
  }
  session.max_message_bytes = config.max_message_bytes;
  // A chunk and what frames it must fit a message.
  session.chunk_bytes =
      std::min({session.chunk_bytes, session.window_bytes, config.max_message_bytes / 2});
  session.max_skew_bytes = std::min(session.max_skew_bytes, session.window_bytes);
}

std::string InMebibytes(int64_t bytes) { return absl::StrCat(bytes >> 20, "MiB"); }

// Of NPUs the limit bounds memory of their own, too, which may be more than the host has.
bool OnHostAlone(const std::vector<DeviceSpec>& devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [](const DeviceSpec& device) { return device.kind == "cpu"; });
}

// What is allowed must be there, or the kernel ends the process when it is used.
absl::Status CheckMemoryLimits(const ServerConfig& config) {
  const std::string limit =
      absl::StrCat("--memory-limit (", FormatByteSize(config.memory_limit_bytes), ")");
  if (config.session.memory_limit_bytes > config.memory_limit_bytes) {
    return InvalidParameter("--session-memory-limit", absl::StrCat("at most ", limit),
                            FormatByteSize(config.session.memory_limit_bytes));
  }
  if (!OnHostAlone(config.devices)) return absl::OkStatus();
  const int64_t usable = UsableMemoryBytes();
  if (config.memory_limit_bytes > usable) {
    return InvalidParameter(
        "--memory-limit",
        absl::StrCat("at most ", InMebibytes(usable), ", which is what this process may use"),
        FormatByteSize(config.memory_limit_bytes));
  }
  const int64_t left = usable - config.memory_limit_bytes;
  if (config.shared_memory.socket.empty() || config.shared_memory.limit_bytes <= left)
    return absl::OkStatus();
  return InvalidParameter("--shared-memory-limit",
                          absl::StrCat("at most ", InMebibytes(left), ", which ", limit,
                                       " leaves of what this process may use"),
                          FormatByteSize(config.shared_memory.limit_bytes));
}

absl::Status CheckSharedMemorySocket(const ServerConfig& config) {
  const std::string& socket = config.shared_memory.socket;
  for (const std::string& address : config.listen) {
    if (socket.empty() || UnixSocketPath(address) != socket) continue;
    return InvalidParameter(kAllowSharedMemory, "another socket than those of --listen", address);
  }
  return absl::OkStatus();
}

// gRPC's own service of it asks nobody.
absl::Status CheckChannelzFlags(const ServerConfig& config) {
  if (!config.channelz || config.token_file.empty()) return absl::OkStatus();
  return InvalidParameter("--channelz", "no --token-file, because gRPC's channelz checks no tokens",
                          "both");
}

absl::Status CheckTls(const TlsConfig& tls) {
  const auto together = [](const char* flag, const char* other) {
    return InvalidParameter(flag, absl::StrCat(other, ", too"), "it alone");
  };
  if (tls.is_on() && tls.key_file.empty()) return together(kTlsCertFlag, kTlsKeyFlag);
  if (tls.is_on()) return absl::OkStatus();
  if (!tls.key_file.empty()) return together(kTlsKeyFlag, kTlsCertFlag);
  if (!tls.client_ca_file.empty()) return together(kTlsClientCaFlag, kTlsCertFlag);
  return absl::OkStatus();
}

// What flags say of each other.
absl::Status Check(const ServerConfig& config) {
  const auto more_than_none = [](absl::Duration time, std::string_view flag,
                                 std::string_view want) {
    return time > absl::ZeroDuration() ? absl::OkStatus() : InvalidParameter(flag, want, "0");
  };
  if (config.clients.max_inflated_bytes > config.max_message_bytes) {
    return InvalidParameter("--max-inflated-bytes", "at most --max-message-bytes",
                            FormatByteSize(config.clients.max_inflated_bytes));
  }
  OPSERVE_RETURN_IF_ERROR(
      more_than_none(config.connections.keepalive_timeout, "--keepalive-timeout", "1ms or more"));
  OPSERVE_RETURN_IF_ERROR(
      more_than_none(config.session.stall_timeout, "--session-stall-timeout", "more than 0"));
  OPSERVE_RETURN_IF_ERROR(CheckSharedMemorySocket(config));
  OPSERVE_RETURN_IF_ERROR(CheckTls(config.tls));
  OPSERVE_RETURN_IF_ERROR(CheckChannelzFlags(config));
  return CheckMemoryLimits(config);
}

EarlyExit BadFlags(std::string_view why) {
  std::string text("opserve-server: ");
  text.append(why).append("\nRun opserve-server --help for the flags.\n");
  return {kBadFlags, std::move(text)};
}

}  // namespace

std::variant<ServerConfig, EarlyExit> ParseCommandLine(int argc, const char* const* argv) {
  ServerConfig config;
  config.memory_limit_bytes = DefaultMemoryLimitBytes();
  CLI::App app("Serves operator gradients over gRPC.", "opserve-server");
  FlagSet flags(app);
  AddServerFlags(flags, config);
  SetUp(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream output;
    app.exit(success, output, output);
    std::string text = output.str();
    if (!text.ends_with('\n')) text.push_back('\n');
    return EarlyExit{0, std::move(text)};
  } catch (const CLI::FileError& error) {
    return BadFlags(absl::StrCat("--config: ", error.what()));
  } catch (const CLI::ConfigError& error) {
    return BadFlags(absl::StrCat("--config: want flags that --help lists, got: ", error.what()));
  } catch (const CLI::ParseError& error) {
    return BadFlags(error.what());
  }
  absl::Status status = CheckNoExtras(app);
  status.Update(flags.status());
  if (status.ok()) {
    Derive(flags, config);
    status = Check(config);
  }
  if (!status.ok()) return BadFlags(ToStd(status.message()));
  config.flags = FlagValues(app);
  return config;
}

int64_t DefaultMemoryLimitBytes() {
  constexpr int64_t kMebibyte = int64_t{1} << 20;
  const int64_t half = UsableMemoryBytes() / 2 / kMebibyte * kMebibyte;
  return std::clamp(half, kMebibyte, int64_t{1} << 30);
}

}  // namespace opserve::server
