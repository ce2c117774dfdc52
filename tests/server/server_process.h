// opserve-server as a program.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace opserve::testing {

class ServerProcess {
 public:
  // Starts $OPSERVE_BIN_DIR/opserve-server, or another program there, with these flags.
  explicit ServerProcess(const std::vector<std::string>& flags,
                         const std::string& program_name = "opserve-server");
  // Kills it if it still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Reads its output (stdout and stderr) until a line holds `part`; false when the output ends
  // first.
  bool WaitForLine(const std::string& part);
  void Signal(int signal) const;
  // SIGSTOP: returns when none of its threads runs any more, until SIGCONT.
  void Pause() const;
  // Reads its output to the end. The exit status, or -signal when a signal ended it.
  int Wait();
  const std::string& output() const { return output_; }

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string output_;
};

}  // namespace opserve::testing
