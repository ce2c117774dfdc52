// The server as one object: engine, services, addresses. Only wiring; main.cc and tests start it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/counters/server_counters.h"
#include "server/flags/config.h"

namespace opserve::server {

class Server {
 public:
  // Makes the engine, binds every address and serves; then writes the port file. Sets the umask
  // while it binds. Errors name the flag and, where one cannot be bound, the address, or the thread
  // that the system does not allow.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerConfig& config);

  // Shuts down without waiting for clients.
  virtual ~Server() = default;

  // In the order of --listen, as clients dial them; with the port that was taken for port 0.
  virtual const std::vector<std::string>& addresses() const = 0;
  // Where HTTP is answered, likewise; empty where it is not.
  virtual const std::string& http_address() const = 0;
  virtual Engine& engine() = 0;

  // Gives memory back that has lain unused for `age`; to be called now and then.
  virtual void TrimIdleMemory(absl::Duration age) = 0;

  // Calls and sessions that are not over now.
  virtual int64_t in_flight() const = 0;
  virtual ServerCounts counts() const = 0;

  // Once a device is lost: says so in the log, and tells health checks NOT_SERVING for good. Calls
  // on other devices are served as before. To be called now and then, by the thread that stops it.
  virtual void CheckDevices() = 0;

  // Takes certificates and tokens whose files have changed (CertificateStore::Reload,
  // TokenStore::Reload). To be called now and then.
  virtual void ReloadIdentity() = 0;

  // Not OK once one of its addresses accepts no more connections, for whatever reason: then it is
  // to be stopped. Any thread.
  virtual absl::Status CheckListeners() = 0;

  // Writes the slow calls to --slow-calls-file. Errors name the flag.
  virtual absl::Status WriteSlowCalls() = 0;

  // Tells health checks that it will stop, and goes on serving.
  virtual void AnnounceStop() = 0;

  // Tells health checks, accepts no more calls, waits up to `drain` for those in flight, then
  // cancels them and waits for what is running. Streams that outlast the calls (health watches,
  // reflection) are ended soon after the last call. Returns when nothing is left; the second call
  // does nothing. Not thread-safe.
  virtual void Shutdown(absl::Duration drain) = 0;
};

}  // namespace opserve::server
