#include "core/base/thread.h"

#include <future>
#include <vector>

#include "absl/strings/str_cat.h"

namespace opserve {

void RehearseThreads(int count, const std::string& whose) {
  std::promise<void> over;
  const std::shared_future<void> waits = over.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  const auto end = [&] {
    over.set_value();
    for (std::thread& thread : threads) thread.join();
  };
  try {
    for (int i = 1; i <= count; ++i) {
      threads.push_back(StartThread(absl::StrCat("thread ", i, " of ", count, " ", whose),
                                    [waits] { waits.wait(); }));
    }
  } catch (...) {
    end();
    throw;
  }
  end();
}

absl::Status NoThread(const ThreadError& error) {
  return absl::ResourceExhaustedError(absl::StrCat(
      error.what(), " (threads are bounded by ulimit -u, the cgroup's pids.max and memory)"));
}

}  // namespace opserve
