// The flags of opserve-server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "server/client_flags.h"
#include "server/log.h"
#include "server/session/session_limits.h"
#include "server/shared_memory_flags.h"

namespace opserve::server {

// How connections live. Zero is "never" and "no bound".
struct ConnectionConfig {
  absl::Duration max_age;  // then told to go (GOAWAY), and cut `max_age_grace` later
  absl::Duration max_age_grace = absl::Seconds(30);
  absl::Duration max_idle;  // without a call; then told to go
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  int max_concurrent_streams = 128;  // of each
  int64_t memory_quota_bytes = 0;    // of all; soft
};

struct ServerConfig {
  std::vector<std::string> listen = {"localhost:8500"};  // host:port or unix:path
  std::string port_file;                                 // empty = none
  mode_t unix_socket_mode = 0600;                        // of those, and of shared memory's
  std::vector<DeviceSpec> devices = {DeviceSpec()};
  std::vector<std::string> ascend_library_paths;  // see EngineOptions
  int64_t max_message_bytes = int64_t{256} << 20;
  int64_t memory_limit_bytes = int64_t{1} << 30;
  AdmissionLimits admission = {.max_bytes = 0};  // of each device
  SessionLimits session;                         // of each
  int64_t max_sessions = 1024;
  absl::Duration session_stall_timeout = absl::Seconds(30);
  LogLevel log_level = LogLevel::kInfo;
  absl::Duration grace_period;
  absl::Duration drain_timeout = absl::Seconds(30);
  ConnectionConfig connections;
  SharedMemoryConfig shared_memory;
  ClientConfig clients;
};

// Instead of serving: what to print and the exit status. 0 (--help, --version) goes to stdout, 2 (a
// bad flag) to stderr.
struct EarlyExit {
  int code = 0;
  std::string text;
};

// Reads the command line and the file that --config names. An error says the flag, what was wanted
// and what came.
std::variant<ServerConfig, EarlyExit> ParseCommandLine(int argc, const char* const* argv);

// The smaller of 1 GiB and half of the memory that this process may use (its cgroup counts).
int64_t DefaultMemoryLimitBytes();

// "64MiB" and the like: a whole number and B, kB, MB, GB, TB, KiB, MiB, GiB, TiB or nothing
// (bytes); >= 1. Errors (161002) name `flag`.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text, std::string_view flag);

// "30s", "500ms", "2m", or a number of seconds; >= 0. Errors (161002) name `flag`.
absl::StatusOr<absl::Duration> ParseTimeout(std::string_view text, std::string_view flag);

// A time of 1ms to 24 days, which is what gRPC counts in, or 0. Errors (161002) name `flag`.
absl::StatusOr<absl::Duration> ParseConnectionTime(std::string_view text, std::string_view flag);

}  // namespace opserve::server
