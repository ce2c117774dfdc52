// Keeps streams that never end by themselves from holding a shutdown.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <grpcpp/server.h>

#include "core/base/mutex.h"

namespace opserve::server {

// Once `executing` has been 0 for kGrace during a shutdown, ends the calls that the server still
// has. By then these are health watches, reflection streams and the like. Its thread is there from
// the beginning: a process that may have no more threads can shut down, too.
class StreamEnder {
 public:
  static constexpr std::chrono::milliseconds kGrace{250};

  // `executing` must outlive it. Throws ThreadError.
  explicit StreamEnder(const std::atomic<int64_t>& executing);
  ~StreamEnder();
  StreamEnder(const StreamEnder&) = delete;
  StreamEnder& operator=(const StreamEnder&) = delete;

  // Right before and after the shutdown of `server`. Once.
  void Begin(grpc::Server& server);
  void End();

 private:
  enum class State : uint8_t { kIdle, kShutdown, kOver };

  void Run();
  bool WaitForEnd();  // at most kGrace

  const std::atomic<int64_t>& executing_;
  Mutex mutex_;
  CondVar changed_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  grpc::Server* server_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread thread_;
};

}  // namespace opserve::server
