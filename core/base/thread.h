// Starting threads, which fails where the system allows no more of them.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"

namespace opserve {

class ThreadError final : public std::system_error {
 public:
  using std::system_error::system_error;
};

// A thread that runs `body`. Throws ThreadError, with `what` in its text, if the system refuses the
// thread. Code that makes objects with threads catches it and returns NoThread.
template <typename Body>
std::thread StartThread(const std::string& what, Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw ThreadError(error.code(), "cannot start " + what);
  }
}

// Starts `count` threads and ends them again. Throws ThreadError, with `whose` in its text, if the
// system refuses one: a check for libraries that abort the process when they get no thread.
void RehearseThreads(int count, const std::string& whose);

// RESOURCE_EXHAUSTED with what `error` says, and what bounds threads.
absl::Status NoThread(const ThreadError& error);

}  // namespace opserve
