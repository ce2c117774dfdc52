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
#include "server/flags/observing_flags.h"
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
constexpr Bounds kProgramSteps = {.least = 1, .most = int64_t{kMaxProgramSteps}};
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
  flags.Add(
      "--unix-socket-mode", "MODE", FormatSocketMode(config.unix_socket_mode),
      "Who may connect to the unix sockets of --listen and --allow-shared-memory: the mode of\n"
      "the file, in octal; the umask does not count. 0660: the group, 0666: everyone.",
      [&mode = config.unix_socket_mode](const std::string& text) {
        return Set(mode, ParseSocketMode(text));
      });
  flags.Add("--port-file", "PATH", config.port_file,
            "Once all addresses are bound, write them to this file, one per line, atomically.",
            [&path = config.port_file](const std::string& text) {
              path = text;
              return absl::OkStatus();
            });
  flags.Add(
      "--http", "ADDRESS", config.http,
      "Serve HTTP on this port of localhost, or on host:port: a page (/), /metrics, /livez,\n"
      "/readyz, and the Open Inference Protocol (/v2, see --open-inference). If other machines\n"
      "can connect, /v2 needs --insecure. Default: no HTTP.",
      [&http = config.http](const std::string& text) { return Set(http, ParseHttpAddress(text)); });
  flags.Add("--http-allow-origin", "ORIGIN", config.http_allowed_origin,
            "Allow web pages of this origin (https://example.org), or * for all, to call /v2.\n"
            "Default: only pages of the port itself.",
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
          "Use TLS on every host:port, with this certificate chain: PEM, the server's certificate\n"
          "first. This file and the next two are read again when they change. Default: no TLS.");
  AddPath(flags, kTlsKeyFlag, config.tls.key_file,
          "The certificate's private key, in PEM without a pass phrase.");
  AddPath(flags, kTlsClientCaFlag, config.tls.client_ca_file,
          "Mutual TLS: clients must show a certificate that a CA in this PEM file signed.\n"
          "Default: clients need no certificate.");
  AddPath(
      flags, kTokenFileFlag, config.token_file,
      "Accept only calls with a bearer token of this file whose roles allow the method. Lines:\n"
      "name role[,role...] sha256:HEX; roles: discover, execute, session, observe. Read again\n"
      "when it changes. Default: every client may call every method.");
  flags.AddEnablingSwitch("--insecure", config.insecure,
                          "Allow addresses without TLS that other machines can reach: the traffic "
                          "can be read\nand changed on the network.");
}

void AddLimitFlags(FlagSet& flags, ServerConfig& config) {
  flags.SetGroup("Limits");
  flags.AddSize(
      "--max-message-bytes", config.max_message_bytes, kMessageSize,
      "Largest request or answer; clients learn it from GetServerInfo.\n"
      "Bytes, or with a unit: KiB, MiB, GiB, kB, MB, GB. 4KiB up to one byte below 2GiB.");
  flags.AddSize(
      "--memory-limit", config.memory_limit_bytes, kSize,
      "Memory for tensors and workspaces, divided equally among the devices. Without NPUs, at\n"
      "most the memory of the machine or cgroup. Default: 1GiB, or half of the memory of the\n"
      "machine or cgroup if that is less.");
  flags.AddTime(
      "--grace-period", config.grace_period, ParseTimeout,
      "After SIGTERM or SIGINT, continue to serve all calls for this time, while health checks\n"
      "answer NOT_SERVING, so that balancers send calls elsewhere.");
  flags.AddTime("--drain-timeout", config.drain_timeout, ParseTimeout,
                "After --grace-period, time for calls in flight to finish before they are\n"
                "cancelled: 30s, 500ms, 2m; a number without a unit is in seconds.");
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
      "Device that runs calls: cpu[,threads=N][,profile=P][,numa-node=M], or NPUs by the numbers\n"
      "of the runtime: ascend:2, ascend:0-3, or ascend for all, with threads and profile.\n"
      "Repeatable. Calls that name no device run on the first.\n"
      "N: 1 to 1024. Default: all cores that this process may use; 4 for each NPU.\n"
      "M: the NUMA node whose cores the device uses. Default: the cores of all.\n"
      "P: host (default), atlas-a2, atlas-a3, atlas-training, atlas-inference.",
      [&devices = config.devices](const std::vector<std::string>& texts) {
        return ReadDevices(texts, devices);
      });
  flags.AddList("--ascend-library-path", "PATH", "",
                "Folder of CANN's libraries, or one library of operators. Searched before the\n"
                "places that the system's loader searches. Repeatable.",
                [&paths = config.ascend_library_paths](const std::vector<std::string>& texts) {
                  return ReadLibraryPaths(texts, paths);
                });
}

void AddSessionFlags(FlagSet& flags, ServerConfig& config) {
  SessionLimits& limits = config.session;
  flags.SetGroup("Sessions");
  flags.AddCount("--max-sessions", config.max_sessions, kCount, "Maximum number of open sessions.");
  flags.AddDerivedSize(
      "--session-memory-limit", limits.memory_limit_bytes, kSize,
      "Device memory that one session may hold. Default and maximum: --memory-limit.");
  flags.AddCount(
      "--session-max-handles", limits.max_handles, kCount,
      "Maximum number of contexts, streams, events, buffers and executors of one session.");
  flags.AddCount("--session-max-queued", limits.max_queued_commands, kCount,
                 "Maximum number of unfinished commands of one session.");
  flags.AddSize(
      "--session-window", limits.window_bytes, kWindowSize,
      "The server stops reading from a session whose waiting uploads, or whose answers that\n"
      "the client did not read yet, take more bytes than this. 1MiB to 1GiB.");
  flags.AddTime("--session-stall-timeout", limits.stall_timeout, ParseTimeout,
                "Close a session whose client does not read an answer for this long.");
  flags.AddTime("--session-idle-timeout", limits.idle_timeout, ParseTimeout,
                "Close a session without any activity for this long. 0: never.");
}

void AddAdmissionFlags(FlagSet& flags, AdmissionLimits& limits) {
  flags.SetGroup("Admission");
  flags.AddCount(
      "--max-calls-in-flight", limits.max_calls, kCalls,
      "Maximum number of calls that wait or run on a device's threads. Further calls are\n"
      "refused at once with RESOURCE_EXHAUSTED and the time to try again. Tiny calls do\n"
      "not wait and do not count.");
  flags.AddDerivedSize(
      "--max-bytes-in-flight", limits.max_bytes, kSize,
      "Maximum bytes of inputs, outputs and workspaces of those calls, for each device. A call\n"
      "that is alone is not refused. Default: the device's part of --memory-limit.");
  flags.AddTime(
      "--max-queue-wait", limits.max_wait, ParseTimeout,
      "Maximum estimated queueing time of a call, on top of the call's own run time. Calls that\n"
      "would wait longer are refused at once.");
}

void AddConnectionFlags(FlagSet& flags, ConnectionConfig& config) {
  flags.SetGroup("Connections");
  flags.AddCount(
      "--max-concurrent-streams", config.max_concurrent_streams, kStreams,
      "Maximum number of calls and sessions on one connection; more wait in the client.");
  flags.AddTime(
      "--max-connection-age", config.max_age, ParseConnectionTime,
      "Ask clients to reconnect after this time (GOAWAY; up to a tenth earlier or later), so\n"
      "that they spread over replicas. 0: never.");
  flags.AddTime("--max-connection-age-grace", config.max_age_grace, ParseConnectionTime,
                "After that, time for calls and sessions to end before the connection is closed.\n"
                "0: no limit.");
  flags.AddTime("--max-connection-idle", config.max_idle, ParseConnectionTime,
                "Close a connection without a call for this long. 0: never.");
  flags.AddTime("--keepalive-time", config.keepalive_time, ParseConnectionTime,
                "Ping an idle connection this often, to detect clients that are gone. 0: never.");
  flags.AddTime("--keepalive-timeout", config.keepalive_timeout, ParseConnectionTime,
                "Close a connection that does not answer a ping for this long. 1ms or more.");
  flags.AddSize(
      "--grpc-memory-quota", config.memory_quota_bytes, kSizeOrNone,
      "When gRPC's buffers take more memory than this, gRPC reads more slowly and accepts fewer\n"
      "connections. A soft limit: gRPC may exceed it. 0: no limit.");
}

void AddSharedMemoryFlags(FlagSet& flags, SharedMemoryConfig& config) {
  flags.SetGroup("Shared memory");
  flags.Add(kAllowSharedMemory, "unix:PATH", "",
            "Share memory with clients on this host. Clients ask for it on this unix socket\n"
            "(--unix-socket-mode: who may connect). Default: no shared memory.",
            [&config](const std::string& text) {
              config.socket = UnixSocketPath(text);
              return CheckUnixAddress(text, kAllowSharedMemory);
            });
  flags.AddSize("--shared-memory-limit", config.limit_bytes, kSize,
                "Shared memory of all clients together; does not count as --memory-limit.");
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
      "Part that one client may hold of what other clients do not use: device memory, calls and\n"
      "bytes in flight, sessions, connections. A client is an IPv4 address, a /64 of IPv6, or\n"
      "all unix sockets together; with --token-file, all tokens of one name. Set 100% behind a\n"
      "proxy, where all clients have one address, unless they have tokens.",
      [&share = config.share](const std::string& text) {
        return ReadPercent(text, "--client-share", 1, share);
      });
  flags.AddCount("--max-connections", config.max_connections, kCountOrNone,
                 "Maximum number of connections. 0: as many as the descriptor limit allows.");
  flags.AddCount("--max-connections-per-peer", config.max_connections_of_peer, kCountOrNone,
                 "Maximum number of connections of one client. 0: --client-share decides.");
  flags.AddCount(
      "--max-resets-per-second", config.max_resets_per_second, kCountOrNone,
      "Calls that a client may abandon per second: cancel before the deadline, or leave by\n"
      "closing the connection. Bursts may be ten times as large; of calls without a message,\n"
      "twice as large. Above that the connection is closed, and the client cannot connect for a\n"
      "while. 0: no limit.");
}

void AddClientFlags(FlagSet& flags, ClientConfig& config) {
  flags.SetGroup("Clients");
  AddFairnessFlags(flags, config);
  flags.AddSize(
      "--max-inflated-bytes", config.max_inflated_bytes, kSizeOrNone,
      "Maximum size of a compressed request after decompression. 0: refuse compressed requests.");
  flags.AddTime(
      "--answer-timeout", config.answer_timeout, ParseTimeout,
      "Cancel a call whose client does not read the answer for this long, plus one second per\n"
      "MiB of the answer. 0: no limit. For sessions see --session-stall-timeout.");
  flags.AddTime("--max-call-time", config.max_call_time, ParseTimeout,
                "Refuse calls whose estimated time on one thread is longer. 0: no limit.");
  flags.AddCount("--max-program-steps", config.max_program_steps, kProgramSteps,
                 "Refuse programs of more steps, and batches whose programs have more together.\n"
                 "Clients learn it from GetServerInfo. 1 to 4096.");
  flags.AddDerivedSize(
      "--host-memory-limit", config.host_memory_limit_bytes, kSize,
      "Host memory of all clients together: objects and commands of sessions, requests that\n"
      "wait to be parsed, answers that clients did not read yet. Default: as --memory-limit.");
  flags.AddDerivedSize(
      "--process-memory-limit", config.process_memory_limit_bytes, kSizeOrNone,
      "When the process takes more memory, the server closes the connections whose unfinished\n"
      "requests take most. Default: three quarters of the memory of the machine or cgroup.\n"
      "0: no limit.");
  flags.AddSwitch("--no-reflection", config.reflection, "Do not serve gRPC's server reflection.");
  flags.Add("--open-inference", "on|off", "on",
            "Serve the Open Inference Protocol of KServe v2 and Triton, too: the gRPC service\n"
            "inference.GRPCInferenceService on the same addresses, and HTTP on --http.",
            [&open_inference = config.open_inference](const std::string& text) {
              open_inference = text == "on";
              return text == "on" || text == "off"
                         ? absl::OkStatus()
                         : InvalidParameter("--open-inference", "on or off", Quoted(text));
            });
  flags.AddEnablingSwitch(
      "--open-inference-shared-memory", config.open_inference_shared_memory,
      "Allow clients of the Open Inference Protocol on this machine to register shared memory\n"
      "objects (shm_open) of their own user and to keep tensors there. docs/open_inference.md\n"
      "explains the security of this.");
}

void AddTracingFlags(FlagSet& flags, TracingConfig& config) {
  flags.SetGroup("Tracing");
  flags.Add(
      "--trace-endpoint", "URL", config.endpoint,
      "Send the spans of sampled calls to this OpenTelemetry collector, by OTLP/HTTP as JSON:\n"
      "http://HOST:4318 (then /v1/traces) or with a path. A call is sampled when its\n"
      "traceparent says so. Default: no traces.",
      [&endpoint = config.endpoint](const std::string& text) {
        endpoint = text;
        return ParseCollectorUrl(text).status();
      });
  flags.Add("--trace-sample", "PERCENT", absl::StrCat(100 * config.sampled_part, "%"),
            "Part of the calls without a traceparent that is sampled, too.",
            [&part = config.sampled_part](const std::string& text) {
              return ReadPercent(text, "--trace-sample", 0, part);
            });
  flags.AddTime("--slow-call-time", config.slow_call, ParseTimeout,
                "Keep the newest 512 calls that took this long or longer. 0: keep none.");
  flags.Add("--slow-calls-file", "PATH", config.slow_calls_file,
            "On SIGUSR1, write the slow calls and their phases to this file, as JSON for Perfetto\n"
            "or chrome://tracing; atomically, readable for the server's user only. Default: none.",
            [&path = config.slow_calls_file](const std::string& text) {
              path = text;
              return absl::OkStatus();
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
  AddTracingFlags(flags, config.tracing);
  AddObservingFlags(flags, config);
  AddLogFlags(flags, config);
}

}  // namespace opserve::server
