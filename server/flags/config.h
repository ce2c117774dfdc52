// What opserve-server is told on its command line. The values here are the flags' defaults.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "server/connections/connection_config.h"
#include "server/counters/load_gauge.h"
#include "server/identity/identity_config.h"
#include "server/log/log.h"
#include "server/session/session_limits.h"

namespace opserve::server {

// What one client may take, and all of them together. Zero is "no bound" where nothing else is
// said.
struct ClientConfig {
  double share = 0.75;                  // see SharedLimit
  int64_t max_connections = 0;          // 0: as many as descriptors allow
  int64_t max_connections_of_peer = 0;  // 0: by its share
  int64_t max_resets_per_second = 100;
  int64_t max_inflated_bytes = 0;  // of a compressed request; 0: such are refused
  absl::Duration answer_timeout = absl::Seconds(30);
  absl::Duration max_call_time = absl::Seconds(60);
  int64_t max_program_steps = kMaxProgramSteps;
  int64_t host_memory_limit_bytes = int64_t{1} << 30;
  int64_t process_memory_limit_bytes = 0;
  bool reflection = true;
  bool open_inference = true;
  bool open_inference_shared_memory = false;
};

// What is told of single calls, besides their lines in the log.
struct TracingConfig {
  std::string endpoint;         // of a collector; empty = none
  double sampled_part = 0;      // of calls without a traceparent
  absl::Duration slow_call;     // zero: none is kept
  std::string slow_calls_file;  // empty = none
};

inline constexpr char kAllowSharedMemory[] = "--allow-shared-memory";

struct SharedMemoryConfig {
  std::string socket;  // path; empty = not allowed
  int64_t limit_bytes = int64_t{512} << 20;
};

// As --help has it, with what it was given or its default; empty where that follows from others.
struct FlagValue {
  std::string name;  // "--listen"
  std::string value;
  bool is_given = false;
};

struct ServerConfig {
  std::vector<std::string> listen = {"localhost:8500"};  // host:port or unix:path
  std::string port_file;                                 // empty = none
  std::string http;                                      // host:port; empty = none
  std::string http_allowed_origin;                       // of web pages; "*" = all, empty = none
  mode_t unix_socket_mode = 0600;                        // of those, and of shared memory's
  TlsConfig tls;                                         // of host:port, not of unix:path
  bool insecure = false;                                 // other machines need no TLS
  std::string token_file;                                // empty = nobody is asked
  std::vector<DeviceSpec> devices = {DeviceSpec()};
  std::vector<std::string> ascend_library_paths;  // see EngineOptions
  int64_t max_message_bytes = int64_t{256} << 20;
  int64_t memory_limit_bytes = int64_t{1} << 30;
  AdmissionLimits admission;  // of each device
  SessionLimits session;      // of each
  int64_t max_sessions = 1024;
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  LoadReportPolicy load_reports = LoadReportPolicy::kOff;
  bool channelz = false;
  TracingConfig tracing;
  absl::Duration grace_period;
  absl::Duration drain_timeout = absl::Seconds(30);
  ConnectionConfig connections;
  SharedMemoryConfig shared_memory;
  ClientConfig clients;
  std::vector<FlagValue> flags;  // that all of this came from; none where no command line was read
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

}  // namespace opserve::server
