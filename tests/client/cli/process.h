// Programs of $OPSERVE_BIN_DIR, or by their paths, run by tests.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace opserve::client {

struct Finished {
  int exit_code = -1;  // -1: it did not exit by itself
  std::string out;
  std::string err;
};

// Runs `program` with `arguments` and `input` on its standard input until it ends; kills it after a
// minute.
Finished RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& input = "");

// The same, interrupted (SIGINT, as by Ctrl-C) once `wait` returns.
Finished RunInterrupted(const std::string& program, const std::vector<std::string>& arguments,
                        const std::function<void()>& wait);

// opserve-server on a free port of 127.0.0.1 and a unix socket. Stops it in the destructor.
class ServerProcess {
 public:
  // Empty targets mean that the server did not start.
  explicit ServerProcess(const std::vector<std::string>& more_arguments = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& tcp_target() const { return tcp_target_; }
  const std::string& unix_target() const { return unix_target_; }

  // While it runs.
  void Signal(int signal) const;

  // SIGTERM, then waits: the exit status.
  int Stop();

 private:
  pid_t pid_ = -1;
  std::string folder_;
  std::string tcp_target_;
  std::string unix_target_;
};

}  // namespace opserve::client
