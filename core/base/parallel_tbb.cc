// WorkerPool over a oneTBB arena: the production build.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <utility>

#include "core/base/mutex.h"
#include "core/base/parallel.h"

namespace opserve {

class WorkerPool::Threads {
 public:
  explicit Threads(int threads) : arena_(threads, /*reserved_for_masters=*/0) {
    arena_.initialize();
  }

  ~Threads() {
    MutexLock lock(mutex_);
    while (pending_ > 0) idle_.Wait(mutex_);
  }

  void Enqueue(std::unique_ptr<Task> task) {
    {
      MutexLock lock(mutex_);
      ++pending_;
    }
    // The arena copies what it is given; the task itself is owned by the one copy that runs.
    arena_.enqueue([this, owned = task.release()] {
      std::unique_ptr<Task> mine(owned);
      mine->Run();
      mine.reset();
      MutexLock lock(mutex_);
      if (--pending_ == 0) idle_.NotifyAll();
    });
  }

  void ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
    arena_.execute([&] {
      // Isolated: a caller that waits for its chunks does not start somebody else's task meanwhile.
      tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(tbb::blocked_range<int64_t>(0, chunks, 1),
                          [&](const tbb::blocked_range<int64_t>& range) {
                            for (int64_t i = range.begin(); i != range.end(); ++i) body(i);
                          });
      });
    });
  }

 private:
  // oneTBB's own bound is the number of cores and the smallest of all controls wins: lift it, the
  // arena's size is the bound.
  tbb::global_control lift_{tbb::global_control::max_allowed_parallelism, kMaxThreads + 1};
  tbb::task_arena arena_;
  Mutex mutex_;
  CondVar idle_;
  int64_t pending_ ABSL_GUARDED_BY(mutex_) = 0;
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
