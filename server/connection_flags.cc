#include "server/connection_flags.h"

#include <string_view>

#include <CLI/CLI.hpp>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

constexpr int kMaxStreams = 1 << 20;

void AddText(CLI::App& app, const char* flag, std::string& text, const char* type,
             const char* help) {
  app.add_option(flag, text, help)->capture_default_str()->type_name(type)->group("Connections");
}

}  // namespace

void AddConnectionFlags(CLI::App& app, ConnectionFlagTexts& texts) {
  app.add_option("--max-concurrent-streams", texts.max_concurrent_streams,
                 "Calls and sessions on one connection at one time; more wait in the client.")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxStreams))
      ->type_name("N")
      ->group("Connections");
  AddText(app, "--max-connection-age", texts.max_age, "TIME",
          "Tell a connection to go after this long (more or less, so that not all go at once):\n"
          "clients connect again, and balancers spread them. 0: never.");
  AddText(app, "--max-connection-age-grace", texts.max_age_grace, "TIME",
          "How long calls and sessions on such a connection may go on before they are cut.\n"
          "0: for ever.");
  AddText(app, "--max-connection-idle", texts.max_idle, "TIME",
          "Close a connection that has had no call for this long. 0: never.");
  AddText(app, "--keepalive-time", texts.keepalive_time, "TIME",
          "Ping a silent connection this often, to find clients that are gone. 0: never.");
  AddText(app, "--keepalive-timeout", texts.keepalive_timeout, "TIME",
          "How long the answer to a ping may take before the connection is cut. 1ms or more.");
  AddText(app, "--grpc-memory-quota", texts.memory_quota, "SIZE",
          "Memory of gRPC's own buffers from which on it reads more slowly and accepts fewer\n"
          "connections. Soft: it may be exceeded. 0: none.");
}

absl::StatusOr<ConnectionConfig> InterpretConnectionFlags(const ConnectionFlagTexts& texts) {
  ConnectionConfig config;
  config.max_concurrent_streams = texts.max_concurrent_streams;
  const auto read = [](const std::string& text, std::string_view flag, absl::Duration& time) {
    const absl::StatusOr<absl::Duration> parsed = ParseConnectionTime(text, flag);
    if (parsed.ok()) time = *parsed;
    return parsed.status();
  };
  OPSERVE_RETURN_IF_ERROR(read(texts.max_age, "--max-connection-age", config.max_age));
  OPSERVE_RETURN_IF_ERROR(
      read(texts.max_age_grace, "--max-connection-age-grace", config.max_age_grace));
  OPSERVE_RETURN_IF_ERROR(read(texts.max_idle, "--max-connection-idle", config.max_idle));
  OPSERVE_RETURN_IF_ERROR(read(texts.keepalive_time, "--keepalive-time", config.keepalive_time));
  OPSERVE_RETURN_IF_ERROR(
      read(texts.keepalive_timeout, "--keepalive-timeout", config.keepalive_timeout));
  if (config.keepalive_timeout == absl::ZeroDuration())
    return InvalidParameter("--keepalive-timeout", "1ms or more", texts.keepalive_timeout);
  if (texts.memory_quota == "0") return config;
  OPSERVE_ASSIGN_OR_RETURN(config.memory_quota_bytes,
                           ParseByteSize(texts.memory_quota, "--grpc-memory-quota"));
  return config;
}

}  // namespace opserve::server
