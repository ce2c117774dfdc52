#include "server/config.h"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/usable_memory.h"
#include "server/admission_flags.h"
#include "server/connection_flags.h"
#include "server/device_flags.h"
#include "server/listen_flags.h"

namespace opserve::server {
namespace {

constexpr int kBadFlags = 2;
constexpr int64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();  // gRPC counts in int
constexpr int64_t kMinMessageBytes = 4096;

constexpr absl::Duration kMaxConnectionTime = absl::Hours(24 * 24);  // below 2^31 ms

// The flags as they came.
struct FlagTexts {
  ListenFlagTexts listen;
  std::string max_message_bytes = "256MiB";
  std::string memory_limit = absl::StrCat(DefaultMemoryLimitBytes() >> 20, "MiB");
  std::string session_memory_limit;
  std::string session_window = "16MiB";
  std::string session_stall_timeout = "30s";
  std::string session_max_handles = absl::StrCat(SessionLimits().max_handles);
  std::string session_max_queued = absl::StrCat(SessionLimits().max_queued_commands);
  std::string max_sessions = absl::StrCat(ServerConfig().max_sessions);
  std::string log_level = "info";
  std::string grace_period = "0s";
  std::string drain_timeout = "30s";
  DeviceFlagTexts devices;
  ConnectionFlagTexts connections;
  AdmissionFlagTexts admission;
  SharedMemoryFlagTexts shared_memory;
  ClientFlagTexts clients;
};

CLI::Option* AddText(CLI::App& app, const char* flag, std::string& text, const char* help) {
  return app.add_option(flag, text, help)->capture_default_str();
}

void AddCount(CLI::App& app, const char* flag, std::string& text, const char* help) {
  AddText(app, flag, text, help)->type_name("N")->group("Sessions");
}

void AddSessionFlags(CLI::App& app, FlagTexts& texts) {
  AddCount(app, "--max-sessions", texts.max_sessions, "Sessions at one time.");
  AddText(
      app, "--session-memory-limit", texts.session_memory_limit,
      "Bound on the device memory that one session holds. Default, and at most: --memory-limit.")
      ->type_name("SIZE")
      ->group("Sessions");
  AddCount(app, "--session-max-handles", texts.session_max_handles,
           "Contexts, streams, events, buffers and executors of one session.");
  AddCount(app, "--session-max-queued", texts.session_max_queued,
           "Commands of one session that are not over yet.");
  AddText(app, "--session-window", texts.session_window,
          "Uploads that wait, and answers that were not taken, in bytes each, above which the\n"
          "server stops reading from a session. 1MiB up to 1GiB.")
      ->type_name("SIZE")
      ->group("Sessions");
  AddText(app, "--session-stall-timeout", texts.session_stall_timeout,
          "How long a client may leave an answer untaken before its session is cut.")
      ->type_name("TIME")
      ->group("Sessions");
}

void AddFlags(CLI::App& app, FlagTexts& texts) {
  AddListenFlags(app, texts.listen);
  AddText(app, "--max-message-bytes", texts.max_message_bytes,
          "Largest request or answer; clients learn it from GetServerInfo.\n"
          "Bytes, or with a unit: KiB, MiB, GiB, kB, MB, GB. 4KiB up to one byte below 2GiB.")
      ->type_name("SIZE")
      ->group("Limits");
  AddText(app, "--memory-limit", texts.memory_limit,
          "Bound on the memory for tensors and workspaces, shared by all devices in equal parts.\n"
          "Units as above; at most what this process may use, cgroup included, unless there are\n"
          "NPUs. Default: 1GiB, or half of that if it is less.")
      ->type_name("SIZE")
      ->group("Limits");
  AddText(app, "--grace-period", texts.grace_period,
          "After SIGTERM or SIGINT, how long to go on serving, new calls too, while health checks\n"
          "are told NOT_SERVING, so that balancers send calls elsewhere.")
      ->type_name("TIME")
      ->group("Limits");
  AddText(app, "--drain-timeout", texts.drain_timeout,
          "Then, how long calls in flight may take to finish before they are cancelled:\n"
          "30s, 500ms, 2m; seconds without a unit.")
      ->type_name("TIME")
      ->group("Limits");
  AddDeviceFlags(app, texts.devices);
  AddSessionFlags(app, texts);
  AddAdmissionFlags(app, texts.admission);
  AddConnectionFlags(app, texts.connections);
  AddSharedMemoryFlags(app, texts.shared_memory);
  AddClientFlags(app, texts.clients);
  AddText(app, "--log-level", texts.log_level, "debug, info, warning or error.")
      ->type_name("LEVEL")
      ->group("Logging");
}

void SetUp(CLI::App& app, FlagTexts& texts) {
  AddFlags(app, texts);
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
  const std::string nearest(NearestMatch(flag, names));
  const std::string hint = nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
  return InvalidParameter(flag, absl::StrCat("a flag that --help lists", hint),
                          "an unknown argument");
}

absl::StatusOr<int64_t> ParseMessageLimit(const std::string& text) {
  const char* flag = "--max-message-bytes";
  OPSERVE_ASSIGN_OR_RETURN(const int64_t bytes, ParseByteSize(text, flag));
  if (bytes >= kMinMessageBytes && bytes <= kMaxMessageBytes) return bytes;
  return InvalidParameter(flag, absl::StrCat(kMinMessageBytes, " to ", kMaxMessageBytes, " bytes"),
                          text);
}

absl::StatusOr<int64_t> ParseCount(const std::string& text, std::string_view flag) {
  constexpr int64_t kMost = int64_t{1} << 32;
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 1 && count <= kMost) return count;
  return InvalidParameter(flag, absl::StrCat("1 to ", kMost), absl::StrCat("\"", text, "\""));
}

// The rest of `config` is known already.
absl::Status InterpretSessionFlags(const FlagTexts& texts, ServerConfig& config) {
  SessionLimits& limits = config.session;
  limits.memory_limit_bytes = config.memory_limit_bytes;
  if (!texts.session_memory_limit.empty()) {
    OPSERVE_ASSIGN_OR_RETURN(limits.memory_limit_bytes,
                             ParseByteSize(texts.session_memory_limit, "--session-memory-limit"));
  }
  OPSERVE_ASSIGN_OR_RETURN(limits.window_bytes,
                           ParseByteSize(texts.session_window, "--session-window"));
  if (limits.window_bytes < int64_t{1} << 20 || limits.window_bytes > int64_t{1} << 30)
    return InvalidParameter("--session-window", "1MiB to 1GiB", texts.session_window);
  limits.max_message_bytes = config.max_message_bytes;
  // A chunk and what frames it must fit a message.
  limits.chunk_bytes =
      std::min({limits.chunk_bytes, limits.window_bytes, config.max_message_bytes / 2});
  limits.max_skew_bytes = std::min(limits.max_skew_bytes, limits.window_bytes);
  OPSERVE_ASSIGN_OR_RETURN(limits.max_handles,
                           ParseCount(texts.session_max_handles, "--session-max-handles"));
  OPSERVE_ASSIGN_OR_RETURN(limits.max_queued_commands,
                           ParseCount(texts.session_max_queued, "--session-max-queued"));
  OPSERVE_ASSIGN_OR_RETURN(config.max_sessions, ParseCount(texts.max_sessions, "--max-sessions"));
  OPSERVE_ASSIGN_OR_RETURN(config.session_stall_timeout,
                           ParseTimeout(texts.session_stall_timeout, "--session-stall-timeout"));
  if (config.session_stall_timeout > absl::ZeroDuration()) return absl::OkStatus();
  return InvalidParameter("--session-stall-timeout", "more than 0", texts.session_stall_timeout);
}

std::string InMebibytes(int64_t bytes) { return absl::StrCat(bytes >> 20, "MiB"); }

// Of NPUs the limit bounds memory of their own, too, which may be more than the host has.
bool OnHostAlone(const std::vector<DeviceSpec>& devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [](const DeviceSpec& device) { return device.kind == "cpu"; });
}

// What is allowed must be there, or the kernel ends the process when it is used.
absl::Status CheckMemoryLimits(const FlagTexts& texts, const ServerConfig& config) {
  const std::string limit = absl::StrCat("--memory-limit (", texts.memory_limit, ")");
  if (config.session.memory_limit_bytes > config.memory_limit_bytes) {
    return InvalidParameter("--session-memory-limit", absl::StrCat("at most ", limit),
                            texts.session_memory_limit);
  }
  if (!OnHostAlone(config.devices)) return absl::OkStatus();
  const int64_t usable = UsableMemoryBytes();
  if (config.memory_limit_bytes > usable) {
    return InvalidParameter(
        "--memory-limit",
        absl::StrCat("at most ", InMebibytes(usable), ", which is what this process may use"),
        texts.memory_limit);
  }
  const int64_t left = usable - config.memory_limit_bytes;
  if (config.shared_memory.socket.empty() || config.shared_memory.limit_bytes <= left)
    return absl::OkStatus();
  return InvalidParameter("--shared-memory-limit",
                          absl::StrCat("at most ", InMebibytes(left), ", which ", limit,
                                       " leaves of what this process may use"),
                          texts.shared_memory.limit);
}

absl::StatusOr<ServerConfig> Interpret(const FlagTexts& texts) {
  ServerConfig config;
  OPSERVE_RETURN_IF_ERROR(InterpretListenFlags(texts.listen, config));
  OPSERVE_ASSIGN_OR_RETURN(config.devices, InterpretDeviceFlags(texts.devices));
  config.ascend_library_paths = texts.devices.ascend_library_paths;
  OPSERVE_ASSIGN_OR_RETURN(config.max_message_bytes, ParseMessageLimit(texts.max_message_bytes));
  OPSERVE_ASSIGN_OR_RETURN(config.memory_limit_bytes,
                           ParseByteSize(texts.memory_limit, "--memory-limit"));
  OPSERVE_ASSIGN_OR_RETURN(config.admission, InterpretAdmissionFlags(texts.admission));
  OPSERVE_ASSIGN_OR_RETURN(
      config.clients,
      InterpretClientFlags(texts.clients, config.memory_limit_bytes, config.max_message_bytes));
  OPSERVE_ASSIGN_OR_RETURN(config.connections, InterpretConnectionFlags(texts.connections));
  OPSERVE_ASSIGN_OR_RETURN(config.grace_period, ParseTimeout(texts.grace_period, "--grace-period"));
  OPSERVE_ASSIGN_OR_RETURN(config.drain_timeout,
                           ParseTimeout(texts.drain_timeout, "--drain-timeout"));
  OPSERVE_RETURN_IF_ERROR(InterpretSessionFlags(texts, config));
  OPSERVE_ASSIGN_OR_RETURN(config.shared_memory,
                           InterpretSharedMemoryFlags(texts.shared_memory, config.listen));
  OPSERVE_RETURN_IF_ERROR(CheckMemoryLimits(texts, config));
  const std::optional<LogLevel> level = ParseLogLevel(texts.log_level);
  if (!level.has_value()) {
    return InvalidParameter("--log-level", "debug, info, warning or error",
                            absl::StrCat("\"", texts.log_level, "\""));
  }
  config.log_level = *level;
  return config;
}

EarlyExit BadFlags(std::string_view why) {
  std::string text("opserve-server: ");
  text.append(why).append("\nRun opserve-server --help for the flags.\n");
  return {kBadFlags, std::move(text)};
}

struct Unit {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", int64_t{1} << 10},
                                          {"MiB", int64_t{1} << 20},
                                          {"GiB", int64_t{1} << 30},
                                          {"TiB", int64_t{1} << 40}}};

// nullopt: not a unit.
std::optional<int64_t> BytesOfUnit(std::string_view unit) {
  for (const Unit& known : kUnits) {
    if (known.name == unit) return known.bytes;
  }
  return std::nullopt;
}

}  // namespace

std::variant<ServerConfig, EarlyExit> ParseCommandLine(int argc, const char* const* argv) {
  FlagTexts texts;
  CLI::App app("Serves operator gradients over gRPC.", "opserve-server");
  SetUp(app, texts);
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
  const absl::Status extras = CheckNoExtras(app);
  if (!extras.ok()) return BadFlags(ToStd(extras.message()));
  absl::StatusOr<ServerConfig> config = Interpret(texts);
  if (!config.ok()) return BadFlags(ToStd(config.status().message()));
  return *std::move(config);
}

int64_t DefaultMemoryLimitBytes() {
  return std::clamp(UsableMemoryBytes() / 2, int64_t{1} << 20, int64_t{1} << 30);
}

absl::StatusOr<int64_t> ParseByteSize(std::string_view text, std::string_view flag) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<int64_t> unit = BytesOfUnit(text.substr(digits));
  int64_t number = 0;
  int64_t bytes = 0;
  if (!unit.has_value() || !absl::SimpleAtoi(ToAbsl(text.substr(0, digits)), &number) ||
      number <= 0 || __builtin_mul_overflow(number, *unit, &bytes)) {
    return InvalidParameter(flag, "a size such as 67108864, 64MiB or 1GiB", Quoted(text));
  }
  return bytes;
}

absl::StatusOr<absl::Duration> ParseTimeout(std::string_view text, std::string_view flag) {
  std::string with_unit(text);
  if (with_unit.find_first_not_of("0123456789.") == std::string::npos) with_unit.push_back('s');
  absl::Duration timeout;
  if (absl::ParseDuration(with_unit, &timeout) && timeout >= absl::ZeroDuration() &&
      timeout <= absl::Hours(24 * 365)) {
    return timeout;
  }
  return InvalidParameter(flag, "a time such as 30s, 500ms or 2m", Quoted(text));
}

absl::StatusOr<absl::Duration> ParseConnectionTime(std::string_view text, std::string_view flag) {
  OPSERVE_ASSIGN_OR_RETURN(const absl::Duration time, ParseTimeout(text, flag));
  if (time == absl::ZeroDuration() ||
      (time >= absl::Milliseconds(1) && time <= kMaxConnectionTime)) {
    return time;
  }
  return InvalidParameter(flag, "0, or 1ms to 24 days (576h)", Quoted(text));
}

}  // namespace opserve::server
