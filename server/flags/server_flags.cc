#include "server/flags/server_flags.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/connections/unix_socket.h"
#include "server/flags/listen_address.h"
#include "server/identity/certificates.h"
#include "server/identity/token_table.h"
#include "server/tracing/collector.h"

namespace opserve::server {
namespace {

constexpr Bounds kSize = {.least = 1};
constexpr Bounds kSizeOrNone = {.least = 0};
// gRPC counts them in int.
constexpr Bounds kMessageSize = {.least = 4096, .most = std::numeric_limits<int32_t>::max()};
constexpr Bounds kWindowSize = {.least = int64_t{1} << 20, .most = int64_t{1} << 30};
constexpr Bounds kCount = {.least = 1, .most = int64_t{1} << 32};
constexpr Bounds kCountOrNone = {.least = 0, .most = kCount.most};
constexpr Bounds kCalls = {.least = 1, .most = 1 << 24};
constexpr Bounds kStreams = {.least = 1, .most = 1 << 20};

// As browsers send it: a scheme, a host, perhaps a port, and nothing behind.
absl::Status CheckOrigin(const std::string& text) {
  const size_t host = text.find("://");
  const bool is_origin = host != std::string::npos && host > 0 && host + 3 < text.size() &&
                         text.find_first_of("/ \r\n\t", host + 3) == std::string::npos;
  if (text == "*" || is_origin) return absl::OkStatus();
  return InvalidParameter("--http-allow-origin", "an origin (https://example.org) or *",
                          Quoted(text));
}

void AddListenFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Network");
  flags.AddList("--listen", "ADDRESS", config.listen.front(),
                "Address to serve on: host:port (port 0 = a free one) or unix:path. Repeatable.",
                [&listen = config.listen](const std::vector<std::string>& texts) {
                  listen = texts;
                  return CheckListenAddresses(texts);
                });
  flags.Add("--unix-socket-mode", "MODE", FormatSocketMode(config.unix_socket_mode),
            "Who may connect to unix:path, here and of --allow-shared-memory: the file's mode,\n"
            "in octal, whatever the umask. 0660 lets the group in, 0666 everyone.",
            [&mode = config.unix_socket_mode](const std::string& text) {
              return Set(mode, ParseSocketMode(text));
            });
  flags.Add("--port-file", "PATH", config.port_file,
            "Once all addresses are bound, write them to this file, one a line, atomically.",
            [&path = config.port_file](const std::string& text) {
              path = text;
              return absl::OkStatus();
            });
  flags.Add(
      "--http", "ADDRESS", config.http,
      "Answer HTTP there, for people and for what watches the server: /, /metrics,\n"
      "/livez, /readyz; and the Open Inference Protocol, /v2 (--open-inference), where other\n"
      "machines can connect only with --insecure. A port of localhost, or host:port. Default: "
      "none.",
      [&http = config.http](const std::string& text) { return Set(http, ParseHttpAddress(text)); });
  flags.Add("--http-allow-origin", "ORIGIN", config.http_allowed_origin,
            "Let web pages of this origin (https://example.org), or * for all, call /v2.\n"
            "Default: none but the port's own.",
            [&origin = config.http_allowed_origin](const std::string& text) {
              origin = text;
              return CheckOrigin(text);
            });
}

void AddPath(FlagSet& flags, const char* flag, std::string& path, const char* help) {
  flags.Add(flag, "PATH", path, help, [&path](const std::string& text) {
    path = text;
    return absl::OkStatus();
  });
}

void AddIdentityFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Identity");
  AddPath(flags, kTlsCertFlag, config.tls.certificate_file,
          "Speak TLS on every host:port, and show this certificate: PEM, the server's own, then\n"
          "those that lead to the one its clients trust. Read again when it changes, as the next\n"
          "two are. Default: no TLS.");
  AddPath(flags, kTlsKeyFlag, config.tls.key_file,
          "The certificate's private key, in PEM without a pass phrase.");
  AddPath(flags, kTlsClientCaFlag, config.tls.client_ca_file,
          "Let only clients in that show a certificate which one of these vouches for (mutual\n"
          "TLS). Default: clients need none.");
  AddPath(flags, kTokenFileFlag, config.token_file,
          "Take only calls with a bearer token of this file, by its roles. Lines of\n"
          "name role[,role...] sha256:HEX; roles: discover, execute, session, observe. Read again\n"
          "when it changes. Default: everybody may make every call.");
  flags.AddEnablingSwitch("--insecure", config.insecure,
                          "Listen without TLS where other machines can connect, too: all they "
                          "send can be read\nand changed on its way.");
}

void AddLimitFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Limits");
  flags.AddSize(
      "--max-message-bytes", config.max_message_bytes, kMessageSize,
      "Largest request or answer; clients learn it from GetServerInfo.\n"
      "Bytes, or with a unit: KiB, MiB, GiB, kB, MB, GB. 4KiB up to one byte below 2GiB.");
  flags.AddSize(
      "--memory-limit", config.memory_limit_bytes, kSize,
      "Bound on the memory for tensors and workspaces, shared by all devices in equal parts.\n"
      "Units as above; at most what this process may use, cgroup included, unless there are\n"
      "NPUs. Default: 1GiB, or half of that if it is less.");
  flags.AddTime(
      "--grace-period", config.grace_period, ParseTimeout,
      "After SIGTERM or SIGINT, how long to go on serving, new calls too, while health checks\n"
      "are told NOT_SERVING, so that balancers send calls elsewhere.");
  flags.AddTime("--drain-timeout", config.drain_timeout, ParseTimeout,
                "Then, how long calls in flight may take to finish before they are cancelled:\n"
                "30s, 500ms, 2m; seconds without a unit.");
}

absl::Status ReadDevices(const std::vector<std::string>& texts, std::vector<DeviceSpec>& devices) {
  devices.clear();
  for (const std::string& text : texts) {
    absl::StatusOr<DeviceSpec> device = ParseDeviceSpec(text);
    if (!device.ok()) {
      const ErrorDetail detail = GetErrorDetail(device.status()).value_or(ErrorDetail());
      return InvalidParameter(absl::StrCat("--", detail.parameter), detail.want,
                              Quoted(detail.got));
    }
    devices.push_back(*std::move(device));
  }
  return absl::OkStatus();
}

absl::Status ReadLibraryPaths(const std::vector<std::string>& texts,
                              std::vector<std::string>& paths) {
  paths = texts;
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) continue;
    return InvalidParameter("--ascend-library-path", "a folder or a library",
                            absl::StrCat(Quoted(path), ", which is not there"));
  }
  return absl::OkStatus();
}

void AddDeviceFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Devices");
  flags.AddList(
      "--device", "DEVICE", config.devices.front().kind,
      "Device to run on: cpu[,threads=N][,profile=P], or NPUs, by the runtime's numbers:\n"
      "ascend:2, ascend:0-3, or ascend for all, with the same options. Repeatable; calls that\n"
      "name none run on the first.\n"
      "N: 1 to 1024, default every core that this process may use; for each NPU 4.\n"
      "P: host (default), atlas-a2, atlas-a3, atlas-training, atlas-inference.",
      [&devices = config.devices](const std::vector<std::string>& texts) {
        return ReadDevices(texts, devices);
      });
  flags.AddList("--ascend-library-path", "PATH", "",
                "Where to look for the vendor's libraries for NPUs before the system's places: a\n"
                "folder, or one library of operators. Repeatable.",
                [&paths = config.ascend_library_paths](const std::vector<std::string>& texts) {
                  return ReadLibraryPaths(texts, paths);
                });
}

void AddSessionFlags(FlagSet& flags, ServerConfig& config) {
  SessionLimits& limits = config.session;
  flags.SetGroup("Sessions");
  flags.AddCount("--max-sessions", config.max_sessions, kCount, "Sessions at one time.");
  flags.AddDerivedSize(
      "--session-memory-limit", limits.memory_limit_bytes, kSize,
      "Bound on the device memory that one session holds. Default, and at most: --memory-limit.");
  flags.AddCount("--session-max-handles", limits.max_handles, kCount,
                 "Contexts, streams, events, buffers and executors of one session.");
  flags.AddCount("--session-max-queued", limits.max_queued_commands, kCount,
                 "Commands of one session that are not over yet.");
  flags.AddSize(
      "--session-window", limits.window_bytes, kWindowSize,
      "Uploads that wait, and answers that were not taken, in bytes each, above which the\n"
      "server stops reading from a session. 1MiB up to 1GiB.");
  flags.AddTime("--session-stall-timeout", limits.stall_timeout, ParseTimeout,
                "How long a client may leave an answer untaken before its session is cut.");
  flags.AddTime("--session-idle-timeout", limits.idle_timeout, ParseTimeout,
                "End a session on which nothing has happened for this long. 0: never.");
}

void AddAdmissionFlags(FlagSet& flags, AdmissionLimits& limits) {
  flags.SetGroup("Admission");
  flags.AddCount("--max-calls-in-flight", limits.max_calls, kCalls,
                 "Calls that wait or run on a device's threads; more are refused at once with\n"
                 "RESOURCE_EXHAUSTED and the time to try again. Tiny calls do not wait.");
  flags.AddDerivedSize(
      "--max-bytes-in-flight", limits.max_bytes, kSize,
      "Inputs, outputs and workspaces of those calls, on each device; likewise.\n"
      "A call that is alone is not refused. Default: the device's part of --memory-limit.");
  flags.AddTime(
      "--max-queue-wait", limits.max_wait, ParseTimeout,
      "How long a call may be expected to wait for its turn, besides its own time; likewise.");
}

void AddConnectionFlags(FlagSet& flags, ConnectionConfig& config) {
  flags.SetGroup("Connections");
  flags.AddCount("--max-concurrent-streams", config.max_concurrent_streams, kStreams,
                 "Calls and sessions on one connection at one time; more wait in the client.");
  flags.AddTime(
      "--max-connection-age", config.max_age, ParseConnectionTime,
      "Tell a connection to go after this long (more or less, so that not all go at once):\n"
      "clients connect again, and balancers spread them. 0: never.");
  flags.AddTime("--max-connection-age-grace", config.max_age_grace, ParseConnectionTime,
                "How long calls and sessions on such a connection may go on before they are cut.\n"
                "0: for ever.");
  flags.AddTime("--max-connection-idle", config.max_idle, ParseConnectionTime,
                "Close a connection that has had no call for this long. 0: never.");
  flags.AddTime("--keepalive-time", config.keepalive_time, ParseConnectionTime,
                "Ping a silent connection this often, to find clients that are gone. 0: never.");
  flags.AddTime(
      "--keepalive-timeout", config.keepalive_timeout, ParseConnectionTime,
      "How long the answer to a ping may take before the connection is cut. 1ms or more.");
  flags.AddSize(
      "--grpc-memory-quota", config.memory_quota_bytes, kSizeOrNone,
      "Memory of gRPC's own buffers from which on it reads more slowly and accepts fewer\n"
      "connections. Soft: it may be exceeded. 0: none.");
}

void AddSharedMemoryFlags(FlagSet& flags, SharedMemoryConfig& config) {
  flags.SetGroup("Shared memory");
  flags.Add(kAllowSharedMemory, "unix:PATH", "",
            "Share memory with clients on this host, who ask for it on a unix socket there\n"
            "(--unix-socket-mode says who may open it). Default: none.",
            [&config](const std::string& text) {
              config.socket = UnixSocketPath(text);
              return CheckUnixAddress(text, kAllowSharedMemory);
            });
  flags.AddSize("--shared-memory-limit", config.limit_bytes, kSize,
                "Bound on it, over all clients. It is beside --memory-limit.");
}

absl::Status ReadPercent(const std::string& text, std::string_view flag, double least,
                         double& part) {
  double percent = 0;
  if (!text.ends_with('%') || !absl::SimpleAtod(text.substr(0, text.size() - 1), &percent) ||
      !(percent >= least && percent <= 100)) {
    return InvalidParameter(flag, absl::StrCat(least, "% to 100%"), Quoted(text));
  }
  part = percent / 100.0;
  return absl::OkStatus();
}

// Of what one client does to the others.
void AddFairnessFlags(FlagSet& flags, ClientConfig& config) {
  flags.Add(
      "--client-share", "PERCENT", absl::StrCat(100 * config.share, "%"),
      "What one client may hold of what the others leave: of device memory, calls and bytes in\n"
      "flight, sessions, connections. A client is an IPv4 address, a /64 of IPv6, or all unix\n"
      "sockets. 100% behind a proxy, where all clients look like one.",
      [&share = config.share](const std::string& text) {
        return ReadPercent(text, "--client-share", 1, share);
      });
  flags.AddCount("--max-connections", config.max_connections, kCountOrNone,
                 "Connections at one time. 0: as many as the process may have descriptors for.");
  flags.AddCount("--max-connections-per-peer", config.max_connections_of_peer, kCountOrNone,
                 "Connections of one client. 0: by --client-share.");
  flags.AddCount(
      "--max-resets-per-second", config.max_resets_per_second, kCountOrNone,
      "Calls that a client may take back (cancel before their deadline, or leave with their\n"
      "connection) each second; ten times as many at once. Beyond that the connection is cut,\n"
      "and none of the client's is taken for a while. 0: no bound.");
}

void AddClientFlags(FlagSet& flags, ClientConfig& config) {
  flags.SetGroup("Clients");
  AddFairnessFlags(flags, config);
  flags.AddSize("--max-inflated-bytes", config.max_inflated_bytes, kSizeOrNone,
                "What a compressed request may inflate to. 0: compressed requests are refused.");
  flags.AddTime(
      "--answer-timeout", config.answer_timeout, ParseTimeout,
      "How long a client may take over an answer, and a second more for each MiB of it, before\n"
      "the call is cut. 0: for ever. Of sessions: --session-stall-timeout.");
  flags.AddTime("--max-call-time", config.max_call_time, ParseTimeout,
                "Calls that are estimated to take longer on one thread are refused. 0: none is.");
  flags.AddDerivedSize(
      "--host-memory-limit", config.host_memory_limit_bytes, kSize,
      "Bound on what clients take besides device memory: objects and commands of sessions,\n"
      "requests that wait to be read, answers that were not taken. Default: as --memory-limit.");
  flags.AddDerivedSize(
      "--process-memory-limit", config.process_memory_limit_bytes, kSizeOrNone,
      "When the whole process takes more, the connections are cut whose unfinished requests take\n"
      "most. Default: three quarters of the memory that it may use, cgroup included. 0: no bound.");
  flags.AddSwitch("--no-reflection", config.reflection, "Do not serve gRPC's server reflection.");
  flags.Add(
      "--open-inference", "on|off", "on",
      "Serve the Open Inference Protocol (KServe v2, as Triton's clients speak it) beside our\n"
      "own: gRPC's inference.GRPCInferenceService, on the same addresses, and by HTTP on --http.",
      [&open_inference = config.open_inference](const std::string& text) {
        open_inference = text == "on";
        return text == "on" || text == "off"
                   ? absl::OkStatus()
                   : InvalidParameter("--open-inference", "on or off", Quoted(text));
      });
  flags.AddEnablingSwitch(
      "--open-inference-shared-memory", config.open_inference_shared_memory,
      "Let clients of the Open Inference Protocol on this machine register their shared memory\n"
      "objects (shm_open), each its own user's: tensors come and go there. docs/open_inference.md\n"
      "says what this trusts.");
}

void AddTracingFlags(FlagSet& flags, TracingConfig& config) {
  flags.SetGroup("Tracing");
  flags.Add(
      "--trace-endpoint", "URL", config.endpoint,
      "Send the spans of traced calls to this OpenTelemetry collector, by OTLP/HTTP as JSON:\n"
      "http://HOST:4318 (then /v1/traces) or with a path. Traced are the calls whose\n"
      "traceparent says that they are sampled. Default: none.",
      [&endpoint = config.endpoint](const std::string& text) {
        endpoint = text;
        return ParseCollectorUrl(text).status();
      });
  flags.Add("--trace-sample", "PERCENT", absl::StrCat(100 * config.sampled_part, "%"),
            "Of the calls without a traceparent, how many are traced all the same.",
            [&part = config.sampled_part](const std::string& text) {
              return ReadPercent(text, "--trace-sample", 0, part);
            });
  flags.AddTime("--slow-call-time", config.slow_call, ParseTimeout,
                "Keep the newest 512 calls that took this long or longer. 0: none.");
  flags.Add("--slow-calls-file", "PATH", config.slow_calls_file,
            "On SIGUSR1, write them there, with their phases, as JSON for Perfetto or\n"
            "chrome://tracing; atomically, for the server's user alone. Default: none.",
            [&path = config.slow_calls_file](const std::string& text) {
              path = text;
              return absl::OkStatus();
            });
}

void AddObservingFlags(FlagSet& flags, ServerConfig& config) {
  AddTracingFlags(flags, config.tracing);
  flags.SetGroup("Observing");
  flags.AddEnablingSwitch(
      "--channelz", config.channelz,
      "Serve gRPC's channelz: what each connection is doing, and whose it is. Only where every\n"
      "--listen address is a loopback address or a unix socket.");
  flags.Add("--load-reports", "WHEN", std::string(LoadReportPolicyName(config.load_reports)),
            "Tell balancers of the load, in each answer's trailing metadata (ORCA's\n"
            "endpoint-load-metrics-bin, some 140 bytes): off, asked (calls with the metadata\n"
            "opserve-load-report), always.",
            [&policy = config.load_reports](const std::string& text) {
              const std::optional<LoadReportPolicy> parsed = ParseLoadReportPolicy(text);
              policy = parsed.value_or(policy);
              return parsed.has_value()
                         ? absl::OkStatus()
                         : InvalidParameter("--load-reports", "off, asked or always", Quoted(text));
            });
}

void AddLogFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Logging");
  flags.Add(
      "--log-level", "LEVEL", std::string(LogLevelName(config.log_level)),
      "debug, info, warning or error. At debug each call has a line; one that failed has it at\n"
      "info, where the fault is its client's, or else at error. Lines about calls are bounded.",
      [&level = config.log_level](const std::string& text) {
        const std::optional<LogLevel> parsed = ParseLogLevel(text);
        level = parsed.value_or(level);
        return parsed.has_value()
                   ? absl::OkStatus()
                   : InvalidParameter("--log-level", "debug, info, warning or error", Quoted(text));
      });
  flags.Add("--log-format", "FORMAT", std::string(LogFormatName(config.log_format)),
            "text: key=value; json: an object a line.",
            [&format = config.log_format](const std::string& text) {
              const std::optional<LogFormat> parsed = ParseLogFormat(text);
              format = parsed.value_or(format);
              return parsed.has_value()
                         ? absl::OkStatus()
                         : InvalidParameter("--log-format", "text or json", Quoted(text));
            });
}

}  // namespace

void AddServerFlags(FlagSet& flags, ServerConfig& config) {
  AddListenFlags(flags, config);
  AddIdentityFlags(flags, config);
  AddLimitFlags(flags, config);
  AddDeviceFlags(flags, config);
  AddSessionFlags(flags, config);
  AddAdmissionFlags(flags, config.admission);
  AddConnectionFlags(flags, config.connections);
  AddSharedMemoryFlags(flags, config.shared_memory);
  AddClientFlags(flags, config.clients);
  AddObservingFlags(flags, config);
  AddLogFlags(flags, config);
}

}  // namespace opserve::server
