// Keeps streams that never end by themselves from holding a shutdown.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <grpcpp/server.h>

#include "core/base/mutex.h"

namespace opserve::server {

// From the constructor, which comes right before a shutdown of `server`, to the destructor, which
// comes after it: once `executing` has been 0 for kGrace, ends the calls that the server still has.
// By then these are health watches, reflection streams and the like.
class StreamEnder {
 public:
  static constexpr std::chrono::milliseconds kGrace{250};

  // Both must outlive it.
  StreamEnder(grpc::Server& server, const std::atomic<int64_t>& executing);
  ~StreamEnder();
  StreamEnder(const StreamEnder&) = delete;
  StreamEnder& operator=(const StreamEnder&) = delete;

 private:
  void Run();
  bool WaitForShutdown();  // at most kGrace

  grpc::Server& server_;
  const std::atomic<int64_t>& executing_;
  Mutex mutex_;
  CondVar changed_;
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace opserve::server
