#include "server/transport/process/stream_ender.h"

#include <grpc/grpc.h>

#include "core/base/thread.h"

namespace opserve::server {

StreamEnder::StreamEnder(const std::atomic<int64_t>& executing)
    : executing_(executing),
      thread_(StartThread("the thread that ends streams", [this] { Run(); })) {}

StreamEnder::~StreamEnder() {
  End();
  thread_.join();
}

void StreamEnder::Begin(grpc::Server& server) {
  {
    const MutexLock lock(mutex_);
    server_ = &server;
    state_ = State::kShutdown;
  }
  changed_.NotifyAll();
}

void StreamEnder::End() {
  {
    const MutexLock lock(mutex_);
    state_ = State::kOver;
  }
  changed_.NotifyAll();
}

void StreamEnder::Run() {
  {
    const MutexLock lock(mutex_);
    while (state_ == State::kIdle) changed_.Wait(mutex_);
  }
  int quiet_rounds = 0;
  while (!WaitForEnd()) {
    quiet_rounds = executing_.load() == 0 ? quiet_rounds + 1 : 0;
    // The first round that is quiet may have begun a moment ago.
    if (quiet_rounds <= 1) continue;
    // The server stays until End has the lock.
    const MutexLock lock(mutex_);
    if (state_ == State::kShutdown) grpc_server_cancel_all_calls(server_->c_server());
  }
}

bool StreamEnder::WaitForEnd() {
  const auto end = std::chrono::steady_clock::now() + kGrace;
  const MutexLock lock(mutex_);
  while (state_ != State::kOver) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) return false;
    changed_.WaitFor(mutex_, left);
  }
  return true;
}

}  // namespace opserve::server
