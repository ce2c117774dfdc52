// A worker that a test keeps busy, so that what comes behind waits.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "core/workers/worker_pool.h"

namespace opserve::testing {

// Holds a worker from the constructor to Release().
class HeldWorker {
 public:
  explicit HeldWorker(WorkerPool& workers) {
    // A relief thread may run a task that has waited for a few milliseconds, as it does where the
    // system is slow to wake the worker, which is free then.
    constexpr std::chrono::milliseconds kSoon{3};
    std::chrono::steady_clock::duration waited{};
    do {
      Release();
      const auto begun = std::chrono::steady_clock::now();
      hold_ = std::make_shared<Hold>();
      workers.Enqueue(std::make_unique<Task>(hold_));
      hold_->started.get_future().wait();
      waited = std::chrono::steady_clock::now() - begun;
    } while (waited > kSoon);
  }
  ~HeldWorker() { Release(); }
  HeldWorker(const HeldWorker&) = delete;
  HeldWorker& operator=(const HeldWorker&) = delete;

  void Release() {
    if (hold_ != nullptr) hold_->release.set_value();
    hold_ = nullptr;
  }

 private:
  struct Hold {
    std::promise<void> started;
    std::promise<void> release;
  };

  class Task final : public WorkerPool::Task {
   public:
    explicit Task(std::shared_ptr<Hold> hold)
        : hold_(std::move(hold)), release_(hold_->release.get_future()) {}
    void Run() override {
      hold_->started.set_value();
      release_.wait();
    }

   private:
    const std::shared_ptr<Hold> hold_;
    const std::future<void> release_;
  };

  std::shared_ptr<Hold> hold_;
};

}  // namespace opserve::testing
