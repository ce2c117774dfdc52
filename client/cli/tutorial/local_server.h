// The server that the tutorial starts.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace opserve::cli {

// opserve-server on a unix socket in a folder. It gets SIGTERM in the destructor, which waits for
// its end, and when this process ends without that. For the thread that starts it.
class LocalServer {
 public:
  // Starts the program beside this one or else in PATH, and waits until it serves. Its socket and
  // its log are files of `folder`, which must outlive the server. Where there is no such program
  // the error is a UsageError that says what to do; where it does not start, the error has what it
  // said.
  static absl::StatusOr<std::unique_ptr<LocalServer>> Start(const std::string& folder);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  // "unix:/tmp/…".
  const std::string& target() const { return target_; }

 private:
  explicit LocalServer(pid_t pid) : pid_(pid) {}
  absl::Status WaitUntilItServes(const std::string& folder);

  pid_t pid_;  // -1 once it has ended
  std::string target_;
};

}  // namespace opserve::cli
