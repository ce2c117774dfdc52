// WorkerPool over plain threads: the tsan preset, where oneTBB's own synchronisation would be
// reported.
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/parallel.h"

namespace opserve {

class WorkerPool::Threads {
 public:
  explicit Threads(int threads) {
    for (int i = 0; i < threads; ++i) {
      workers_.emplace_back([this] { Work(); });
    }
  }

  ~Threads() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& worker : workers_) worker.join();
  }

  void Enqueue(std::unique_ptr<Task> task) {
    {
      MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.NotifyOne();
  }

  // The caller works too, so this finishes even when every worker is busy.
  void ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
    auto loop = std::make_shared<Loop>(chunks, body);
    for (size_t i = 0; i < workers_.size(); ++i) Enqueue(std::make_unique<LoopTask>(loop));
    loop->Run();
    loop->WaitAllDone();
  }

 private:
  // One ParallelFor: chunks are claimed by counting up; `body_` is only touched for a claimed
  // chunk, hence before the end.
  class Loop {
   public:
    Loop(int64_t chunks, absl::FunctionRef<void(int64_t)> body) : chunks_(chunks), body_(body) {}

    void Run() {
      for (int64_t i = next_.fetch_add(1); i < chunks_; i = next_.fetch_add(1)) {
        body_(i);
        MutexLock lock(mutex_);
        if (++done_ == chunks_) all_done_.NotifyAll();
      }
    }

    void WaitAllDone() {
      MutexLock lock(mutex_);
      while (done_ < chunks_) all_done_.Wait(mutex_);
    }

   private:
    const int64_t chunks_;
    const absl::FunctionRef<void(int64_t)> body_;
    std::atomic<int64_t> next_{0};
    Mutex mutex_;
    CondVar all_done_;
    int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  };

  class LoopTask final : public Task {
   public:
    explicit LoopTask(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}
    void Run() override { loop_->Run(); }

   private:
    const std::shared_ptr<Loop> loop_;
  };

  std::unique_ptr<Task> NextTask() {
    MutexLock lock(mutex_);
    while (tasks_.empty() && !stopping_) changed_.Wait(mutex_);
    if (tasks_.empty()) return nullptr;
    std::unique_ptr<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  void Work() {
    while (const std::unique_ptr<Task> task = NextTask()) task->Run();
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::unique_ptr<Task>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

WorkerPool::WorkerPool(int threads)
    : threads_(threads), workers_(std::make_unique<Threads>(threads)) {}
WorkerPool::~WorkerPool() = default;

void WorkerPool::Enqueue(std::unique_ptr<Task> task) { workers_->Enqueue(std::move(task)); }

void WorkerPool::ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
  if (chunks <= 1 || threads_ == 1) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  workers_->ParallelFor(chunks, body);
}

}  // namespace opserve
