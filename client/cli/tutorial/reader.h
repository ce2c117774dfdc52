// Who reads the tutorial, and goes on with Enter.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "client/cli/commands/arguments.h"
#include "core/base/unique_fd.h"

namespace opserve::cli {

enum class Answer : uint8_t { kGoOn, kEnd };

// Holds back SIGINT, SIGTERM and SIGHUP, so that what the tutorial made is removed before such a
// signal ends the process, in the destructor. SIGPIPE is ignored meanwhile: the next output fails.
// For the thread that makes it, before other threads start.
class Reader {
 public:
  explicit Reader(Pace pace);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Whether Ask waits for a line.
  bool asks() const { return pace_ == Pace::kAsk; }

  // Waits for a line of standard input. The line "q" ends the tutorial, as do those signals and, on
  // a terminal, the end of input. At the end of a file or a pipe the tutorial goes on by itself.
  Answer Ask();

 private:
  // The next character of standard input, or one of the values below.
  int ReadCharacter() const;
  bool IsInterrupted() const;

  Pace pace_;
  sigset_t signals_before_ = {};
  // Of the ending signals and SIGPIPE; a command may set its own.
  std::array<struct sigaction, 4> actions_before_ = {};
  UniqueFd signals_;  // readable once one has come
};

}  // namespace opserve::cli
