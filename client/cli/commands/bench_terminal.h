// What a terminal asks of `opserve bench`, and is shown.
#pragma once

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

namespace opserve::cli {

// Ctrl-C asks for the end; the second one is the system's.
class Interrupt {
 public:
  Interrupt() {
    struct sigaction action = {};
    action.sa_handler = [](int) { asked_ = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  const std::atomic<bool>& asked() const { return asked_; }

 private:
  static inline std::atomic<bool> asked_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free);
};

// A line on standard error that the next one replaces, where that is a terminal.
class LiveLine {
 public:
  void Show(const std::string& text) const {
    if (shown_) std::fputs(("\r\x1b[K" + text).c_str(), stderr);
  }
  void Clear() const { Show(""); }

 private:
  const bool shown_ = isatty(STDERR_FILENO) != 0;
};

}  // namespace opserve::cli
