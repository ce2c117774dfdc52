#include "server/stream_ender.h"

#include <grpc/grpc.h>

namespace opserve::server {

StreamEnder::StreamEnder(grpc::Server& server, const std::atomic<int64_t>& executing)
    : server_(server), executing_(executing), thread_([this] { Run(); }) {}

StreamEnder::~StreamEnder() {
  {
    const MutexLock lock(mutex_);
    shut_down_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void StreamEnder::Run() {
  int quiet_rounds = 0;
  while (!WaitForShutdown()) {
    quiet_rounds = executing_.load() == 0 ? quiet_rounds + 1 : 0;
    // The first round that is quiet may have begun a moment ago.
    if (quiet_rounds > 1) grpc_server_cancel_all_calls(server_.c_server());
  }
}

bool StreamEnder::WaitForShutdown() {
  const auto end = std::chrono::steady_clock::now() + kGrace;
  const MutexLock lock(mutex_);
  while (!shut_down_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

}  // namespace opserve::server
