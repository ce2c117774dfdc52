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

// A thread that runs `body`. Throws ThreadError, with `what` in its text, where there can be none:
// who makes things that have threads catches it, and says NoThread.
template <typename Body>
std::thread StartThread(const std::string& what, Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw ThreadError(error.code(), "cannot start " + what);
  }
}

// Starts so many threads and ends them again. Throws ThreadError, with `whose` in its text, where
// there cannot be so many: for libraries that end the process when they lack one.
void RehearseThreads(int count, const std::string& whose);

// RESOURCE_EXHAUSTED with what `error` says, and what bounds threads.
absl::Status NoThread(const ThreadError& error);

}  // namespace opserve
