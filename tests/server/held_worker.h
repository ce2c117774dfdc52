// A worker that a test keeps busy, so that what comes behind waits.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "core/workers/worker_pool.h"

namespace opserve::testing {

// Holds a worker from the constructor to Release().
class HeldWorker {
 public:
  explicit HeldWorker(WorkerPool& workers) {
    workers.Enqueue(std::make_unique<Task>(started_, release_.get_future()));
    started_.get_future().wait();
  }
  ~HeldWorker() { Release(); }
  HeldWorker(const HeldWorker&) = delete;
  HeldWorker& operator=(const HeldWorker&) = delete;

  void Release() {
    if (!released_) release_.set_value();
    released_ = true;
  }

 private:
  class Task final : public WorkerPool::Task {
   public:
    Task(std::promise<void>& started, std::future<void> release)
        : started_(started), release_(std::move(release)) {}
    void Run() override {
      started_.set_value();
      release_.wait();
    }

   private:
    std::promise<void>& started_;
    std::future<void> release_;
  };

  std::promise<void> started_;
  std::promise<void> release_;
  bool released_ = false;
};

}  // namespace opserve::testing
