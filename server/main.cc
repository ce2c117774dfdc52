// opserve-server: flags in, signals out.
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/standard_files.h"
#include "core/base/strings.h"
#include "core/base/thread.h"
#include "server/allocator.h"
#include "server/flags/config.h"
#include "server/log/log.h"
#include "server/open_addresses.h"
#include "server/server.h"
#include "server/watchdog.h"

namespace opserve::server {
namespace {

constexpr int kExitFailed = 1;
constexpr timespec kHousekeepingInterval = {.tv_sec = 1, .tv_nsec = 0};
constexpr absl::Duration kIdleMemoryAge = absl::Seconds(8);
// What the end may take besides --grace-period and --drain-timeout, and then what gRPC may take to
// end its threads.
constexpr absl::Duration kEndTime = absl::Seconds(1);

// Those that WaitForStop takes.
sigset_t TakenSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  return signals;
}

void WriteSlowCalls(Server& server) {
  const absl::Status status = server.WriteSlowCalls();
  if (status.ok()) return Log(LogLevel::kInfo, "slow calls written");
  Log(LogLevel::kWarning, "slow calls not written",
      {{"error", std::string(ToStd(status.message()))}});
}

// Keeps house until a signal asks to stop, which is returned, or there is nothing to serve on (0).
int WaitForStop(Server& server, const sigset_t& signals) {
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &kHousekeepingInterval);
    if (signal == SIGUSR1) WriteSlowCalls(server);
    if (signal > 0 && signal != SIGUSR1) return signal;
    server.TrimIdleMemory(kIdleMemoryAge);
    server.CheckDevices();
    server.ReloadIdentity();
    const absl::Status listeners = server.CheckListeners();
    if (listeners.ok()) continue;
    Log(LogLevel::kError, "cannot go on", {{"error", std::string(ToStd(listeners.message()))}});
    return 0;
  }
}

// The next stop signal ends the process where it stands.
void RestoreSignals(const sigset_t& signals) {
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGUSR1, SIG_IGN);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::string InFlight(const Server& server) { return absl::StrCat(server.in_flight()); }

// From the first signal to the end. A second one ends the process meanwhile.
void StopServing(Server& server, const ServerConfig& config, int signal, Watchdog& watchdog) {
  watchdog.Set(config.grace_period + config.drain_timeout + kEndTime, kExitFailed,
               "calls or connections did not end in time");
  if (config.grace_period > absl::ZeroDuration()) {
    server.AnnounceStop();
    Log(LogLevel::kInfo, "grace period",
        {{"signal", absl::StrCat(signal)},
         {"grace_period", absl::FormatDuration(config.grace_period)},
         {"in_flight", InFlight(server)}});
    absl::SleepFor(config.grace_period);
    Log(LogLevel::kInfo, "grace period over", {{"in_flight", InFlight(server)}});
  }
  Log(LogLevel::kInfo, "draining",
      {{"signal", absl::StrCat(signal)},
       {"drain_timeout", absl::FormatDuration(config.drain_timeout)},
       {"in_flight", InFlight(server)}});
  const absl::Time start = Clock::Real().Now();
  server.Shutdown(config.drain_timeout);
  const ServerCounts counts = server.counts();
  int64_t calls = 0;
  for (const ServerCounts::OfMethod& method : counts.methods) calls += method.begun;
  Log(LogLevel::kInfo, "drained",
      {{"took", absl::FormatDuration(Clock::Real().Now() - start)},
       {"calls", absl::StrCat(calls)},
       {"sessions", absl::StrCat(counts.sessions_opened)}});
  watchdog.Set(kEndTime, signal > 0 ? 0 : kExitFailed, "all is done; gRPC takes its time");
  Log(LogLevel::kInfo, "stopped");
}

void WarnOfOpenAddresses(const Server& server, const ServerConfig& config) {
  std::vector<std::string> plain;
  if (!config.tls.is_on()) plain = server.addresses();
  if (!server.http_address().empty()) plain.push_back(server.http_address());
  const std::vector<std::string> open = OpenAddresses(plain);
  if (open.empty()) return;
  Log(LogLevel::kWarning, "listening beyond this machine without TLS",
      {{"addresses", absl::StrJoin(open, ",")},
       {"advice",
        "anyone who can reach these addresses can read the traffic and make calls: give --tls-cert "
        "and --tls-key, or put a proxy with TLS in front of the server and --listen on localhost "
        "or unix:path (docs/security.md)"}});
}

void LogStart(Server& server, const ServerConfig& config) {
  for (const auto& device : server.engine().devices()) {
    Log(LogLevel::kInfo, "device",
        {{"name", device->info().name}, {"description", device->info().description}});
  }
  WarnOfOpenAddresses(server, config);
  Log(LogLevel::kInfo, "serving",
      {{"version", OPSERVE_VERSION},
       {"addresses", absl::StrJoin(server.addresses(), ",")},
       {"http", server.http_address()},
       {"max_message_bytes", absl::StrCat(config.max_message_bytes)},
       {"memory_limit_bytes", absl::StrCat(config.memory_limit_bytes)}});
}

int FailToStart(const absl::Status& status) {
  Log(LogLevel::kError, "cannot start", {{"error", std::string(ToStd(status.message()))}});
  return kExitFailed;
}

int Run(const ServerConfig& config) try {
  SetLogLevel(config.log_level);
  SetLogFormat(config.log_format);
  SetUpMalloc();
  // Before any thread starts, so that all of them leave these signals to WaitForStop.
  const sigset_t signals = TakenSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  // Until the very end, which is after this function's.
  static auto& watchdog = *new Watchdog;
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(config);
  if (!started.ok()) return FailToStart(started.status());
  Server& server = **started;
  LogStart(server, config);
  const int signal = WaitForStop(server, signals);
  RestoreSignals(signals);
  StopServing(server, config, signal, watchdog);
  return signal > 0 ? 0 : kExitFailed;
} catch (const ThreadError& error) {
  return FailToStart(NoThread(error));
}

int Main(int argc, char** argv) {
  const std::variant<ServerConfig, EarlyExit> parsed = ParseCommandLine(argc, argv);
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(exit->text.c_str(), exit->code == 0 ? stdout : stderr);
    return exit->code;
  }
  return Run(std::get<ServerConfig>(parsed));
}

}  // namespace
}  // namespace opserve::server

OPSERVE_OPEN_STANDARD_FILES_FIRST();

int main(int argc, char** argv) { return opserve::server::Main(argc, argv); }
