#include "server/client_flags.h"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/usable_memory.h"
#include "server/config.h"

namespace opserve::server {
namespace {

constexpr char kGroup[] = "Clients";
constexpr int64_t kMostCounted = int64_t{1} << 32;
// What the process takes besides what the limits bound.
constexpr int64_t kOwnMemoryBytes = int64_t{256} << 20;

void Add(CLI::App& app, const char* flag, std::string& text, const char* type, const char* help) {
  CLI::Option* option = app.add_option(flag, text, help)->type_name(type)->group(kGroup);
  if (!text.empty()) option->capture_default_str();
}

absl::StatusOr<double> ParseShare(const std::string& text) {
  int percent = 0;
  if (text.ends_with('%') && absl::SimpleAtoi(text.substr(0, text.size() - 1), &percent) &&
      percent >= 1 && percent <= 100) {
    return percent / 100.0;
  }
  return InvalidParameter("--client-share", "1% to 100%", absl::StrCat("\"", text, "\""));
}

absl::Status ReadCount(const std::string& text, std::string_view flag, int64_t& count) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0 && number <= kMostCounted) {
    count = number;
    return absl::OkStatus();
  }
  return InvalidParameter(flag, absl::StrCat("0 to ", kMostCounted),
                          absl::StrCat("\"", text, "\""));
}

absl::Status ReadTime(const std::string& text, std::string_view flag, absl::Duration& time) {
  const absl::StatusOr<absl::Duration> parsed = ParseTimeout(text, flag);
  if (parsed.ok()) time = *parsed;
  return parsed.status();
}

// "0" is no bound, and an empty text leaves what is there.
absl::Status ReadSize(const std::string& text, std::string_view flag, int64_t& bytes) {
  if (text.empty()) return absl::OkStatus();
  if (text == "0") {
    bytes = 0;
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> parsed = ParseByteSize(text, flag);
  if (parsed.ok()) bytes = *parsed;
  return parsed.status();
}

}  // namespace

void AddClientFlags(CLI::App& app, ClientFlagTexts& texts) {
  Add(app, "--client-share", texts.share, "PERCENT",
      "What one client may hold of what the others leave: of device memory, calls and bytes in\n"
      "flight, sessions, connections. A client is an IPv4 address, a /64 of IPv6, or all unix\n"
      "sockets. 100% behind a proxy, where all clients look like one.");
  Add(app, "--max-connections", texts.max_connections, "N",
      "Connections at one time. 0: as many as the process may have descriptors for.");
  Add(app, "--max-connections-per-peer", texts.max_connections_of_peer, "N",
      "Connections of one client. 0: by --client-share.");
  Add(app, "--max-resets-per-second", texts.max_resets_per_second, "N",
      "Calls that a client may take back (cancel before their deadline, or leave with their\n"
      "connection) each second; ten times as many at once. Beyond that the connection is cut,\n"
      "and none of the client's is taken for a while. 0: no bound.");
  Add(app, "--max-inflated-bytes", texts.max_inflated_bytes, "SIZE",
      "What a compressed request may inflate to. 0: compressed requests are refused.");
  Add(app, "--answer-timeout", texts.answer_timeout, "TIME",
      "How long a client may take over an answer, and a second more for each MiB of it, before\n"
      "the call is cut. 0: for ever. Of sessions: --session-stall-timeout.");
  Add(app, "--max-call-time", texts.max_call_time, "TIME",
      "Calls that are estimated to take longer on one thread are refused. 0: none is.");
  Add(app, "--session-idle-timeout", texts.session_idle_timeout, "TIME",
      "End a session on which nothing has happened for this long. 0: never.");
  Add(app, "--host-memory-limit", texts.host_memory_limit, "SIZE",
      "Bound on what clients take besides device memory: objects and commands of sessions,\n"
      "requests that wait to be read, answers that were not taken. Default: as --memory-limit.");
  Add(app, "--process-memory-limit", texts.process_memory_limit, "SIZE",
      "When the whole process takes more, the connections are cut whose unfinished requests take\n"
      "most. Default: three quarters of the memory that it may use, cgroup included. 0: no bound.");
  app.add_flag("--no-reflection", texts.no_reflection, "Do not serve gRPC's server reflection.")
      ->group(kGroup);
}

absl::StatusOr<ClientConfig> InterpretClientFlags(const ClientFlagTexts& texts,
                                                  int64_t memory_limit_bytes,
                                                  int64_t max_message_bytes) {
  ClientConfig config;
  OPSERVE_ASSIGN_OR_RETURN(config.share, ParseShare(texts.share));
  OPSERVE_RETURN_IF_ERROR(
      ReadCount(texts.max_connections, "--max-connections", config.max_connections));
  OPSERVE_RETURN_IF_ERROR(ReadCount(texts.max_connections_of_peer, "--max-connections-per-peer",
                                    config.max_connections_of_peer));
  OPSERVE_RETURN_IF_ERROR(ReadCount(texts.max_resets_per_second, "--max-resets-per-second",
                                    config.max_resets_per_second));
  OPSERVE_RETURN_IF_ERROR(
      ReadSize(texts.max_inflated_bytes, "--max-inflated-bytes", config.max_inflated_bytes));
  if (config.max_inflated_bytes > max_message_bytes) {
    return InvalidParameter("--max-inflated-bytes", "at most --max-message-bytes",
                            texts.max_inflated_bytes);
  }
  OPSERVE_RETURN_IF_ERROR(
      ReadTime(texts.answer_timeout, "--answer-timeout", config.answer_timeout));
  OPSERVE_RETURN_IF_ERROR(ReadTime(texts.max_call_time, "--max-call-time", config.max_call_time));
  OPSERVE_RETURN_IF_ERROR(
      ReadTime(texts.session_idle_timeout, "--session-idle-timeout", config.session_idle_timeout));
  config.host_memory_limit_bytes = memory_limit_bytes;
  OPSERVE_RETURN_IF_ERROR(
      ReadSize(texts.host_memory_limit, "--host-memory-limit", config.host_memory_limit_bytes));
  if (config.host_memory_limit_bytes == 0)
    return InvalidParameter("--host-memory-limit", "more than 0", texts.host_memory_limit);
  config.process_memory_limit_bytes =
      DefaultProcessMemoryLimitBytes(memory_limit_bytes + config.host_memory_limit_bytes);
  OPSERVE_RETURN_IF_ERROR(ReadSize(texts.process_memory_limit, "--process-memory-limit",
                                   config.process_memory_limit_bytes));
  config.reflection = !texts.no_reflection;
  return config;
}

int64_t DefaultProcessMemoryLimitBytes([[maybe_unused]] int64_t other_limits_bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  return std::max(UsableMemoryBytes() / 4 * 3, other_limits_bytes + kOwnMemoryBytes);
#endif
}

}  // namespace opserve::server
