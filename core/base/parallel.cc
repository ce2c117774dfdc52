// WorkerPool: one queue of tasks and of chunks, drained by plain threads.
#include "core/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve {
namespace {

// How long a thread looks for work before it sleeps: waking it costs about as much.
constexpr absl::Duration kSpin = absl::Microseconds(50);

// Calls `ready` until it is true or the time is over; others may have the core meanwhile.
template <typename Ready>
bool SpinUntil(Ready ready) {
  if (ready()) return true;
  const absl::Time end = absl::Now() + kSpin;
  do {
    sched_yield();
    if (ready()) return true;
  } while (absl::Now() < end);
  return false;
}

// Loops that the caller of ParallelFor is in, on this thread.
thread_local int loops_of_thread = 0;

class InLoop {
 public:
  InLoop() { ++loops_of_thread; }
  ~InLoop() { --loops_of_thread; }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

  // Not in a task that runs between the chunks of another loop.
  bool is_outermost() const { return loops_of_thread == 1; }
};

}  // namespace

class WorkerPool::Threads {
 public:
  explicit Threads(int threads) {
    workers_.reserve(static_cast<size_t>(threads));
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

  void Enqueue(std::unique_ptr<Task> task, Size size) {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      (size == Size::kTiny ? tiny_ : tasks_).push_back(std::move(task));
      if (size == Size::kTiny) tiny_waiting_.fetch_add(1, std::memory_order_release);
      tasks_waiting_.fetch_add(1, std::memory_order_release);
      wake = sleepers_ > 0;
    }
    if (wake) changed_.NotifyOne();
  }

  // The caller works too, so this finishes even when every worker is busy.
  void ParallelFor(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
    const InLoop here;
    const auto others = static_cast<int64_t>(workers_.size()) - 1;
    SharedLoop loop(chunks, body, std::min(chunks - 1, others));
    Publish(loop);
    while (loop.RunChunk()) {
      if (here.is_outermost()) RunTinyTask();
    }
    Retire(loop);
  }

 private:
  // One ParallelFor, on its caller's stack.
  struct SharedLoop {
    SharedLoop(int64_t chunk_count, absl::FunctionRef<Loop(int64_t)> chunk_body, int64_t free_seats)
        : chunks(chunk_count), body(chunk_body), seats(free_seats) {}

    // False when there was none left.
    bool RunChunk() {
      if (ended.load(std::memory_order_relaxed)) return false;
      const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) return false;
      if (body(chunk) == Loop::kEnd) ended.store(true, std::memory_order_relaxed);
      return true;
    }

    const int64_t chunks;
    const absl::FunctionRef<Loop(int64_t)> body;
    std::atomic<int64_t> next{0};
    std::atomic<bool> ended{false};
    int64_t seats;                // helpers that it can still have; under the pool's mutex
    std::atomic<int> helpers{0};  // grows under the pool's mutex only, while the loop is published
  };

  void Publish(SharedLoop& loop) {
    size_t wake = 0;
    {
      MutexLock lock(mutex_);
      wake = std::min(sleepers_, static_cast<size_t>(loop.seats));
      loops_.push_back(&loop);
      num_loops_.fetch_add(1, std::memory_order_relaxed);
      seats_waiting_.fetch_add(loop.seats, std::memory_order_release);
    }
    for (size_t i = 0; i < wake; ++i) changed_.NotifyOne();
  }

  // Takes the loop off the queue and waits for those who still run a chunk of it.
  void Retire(SharedLoop& loop) {
    {
      MutexLock lock(mutex_);
      Remove(loop);
    }
    const auto left = [&] { return loop.helpers.load(std::memory_order_acquire) == 0; };
    if (SpinUntil(left)) return;
    MutexLock lock(mutex_);
    while (!left()) helper_left_.Wait(mutex_);
  }

  void Remove(SharedLoop& loop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto at = std::find(loops_.begin(), loops_.end(), &loop);
    if (at == loops_.end()) return;
    loops_.erase(at);
    num_loops_.fetch_sub(1, std::memory_order_relaxed);
    seats_waiting_.fetch_sub(loop.seats, std::memory_order_relaxed);
    loop.seats = 0;
  }

  // Between two chunks of somebody else's.
  void RunTinyTask() {
    if (tiny_waiting_.load(std::memory_order_acquire) == 0) return;
    std::unique_ptr<Task> task;
    {
      MutexLock lock(mutex_);
      task = TakeTiny();
    }
    if (task != nullptr) task->Run();
  }

  std::unique_ptr<Task> TakeTiny() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (tiny_.empty()) return nullptr;
    tiny_waiting_.fetch_sub(1, std::memory_order_relaxed);
    return TakeFront(tiny_);
  }

  std::unique_ptr<Task> TakeFront(std::deque<std::unique_ptr<Task>>& queue)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (queue.empty()) return nullptr;
    std::unique_ptr<Task> task = std::move(queue.front());
    queue.pop_front();
    tasks_waiting_.fetch_sub(1, std::memory_order_relaxed);
    return task;
  }

  // The next in turn that has a seat; the caller becomes its helper.
  SharedLoop* TakeLoop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto at = std::find_if(loops_.begin(), loops_.end(),
                                 [](const SharedLoop* loop) { return loop->seats > 0; });
    if (at == loops_.end()) return nullptr;
    SharedLoop* loop = *at;
    loops_.erase(at);
    loops_.push_back(loop);
    --loop->seats;
    seats_waiting_.fetch_sub(1, std::memory_order_relaxed);
    loop->helpers.fetch_add(1, std::memory_order_relaxed);
    return loop;
  }

  // One chunk, or several as long as nothing else waits.
  void Help(SharedLoop& loop) {
    bool more = true;
    do {
      more = loop.RunChunk();
    } while (more && tasks_waiting_.load(std::memory_order_acquire) == 0 &&
             num_loops_.load(std::memory_order_relaxed) <= 1);
    MutexLock lock(mutex_);
    const bool published = std::find(loops_.begin(), loops_.end(), &loop) != loops_.end();
    if (more && published) {
      ++loop.seats;
      seats_waiting_.fetch_add(1, std::memory_order_relaxed);
    } else if (published) {
      Remove(loop);
    }
    // From here on the loop may be gone.
    if (loop.helpers.fetch_sub(1, std::memory_order_release) == 1) helper_left_.NotifyAll();
  }

  // What short work waits first, then tasks and chunks in turns.
  bool DoSomething() {
    std::unique_ptr<Task> task;
    SharedLoop* loop = nullptr;
    {
      MutexLock lock(mutex_);
      task = TakeTiny();
      if (task == nullptr && loops_turn_) loop = TakeLoop();
      if (task == nullptr && loop == nullptr) task = TakeFront(tasks_);
      if (task == nullptr && loop == nullptr) loop = TakeLoop();
      loops_turn_ = !loops_turn_;
    }
    if (loop != nullptr) {
      Help(*loop);
    } else if (task != nullptr) {
      task->Run();
    }
    return loop != nullptr || task != nullptr;
  }

  bool SomethingWaits() const {
    return tasks_waiting_.load(std::memory_order_acquire) > 0 ||
           seats_waiting_.load(std::memory_order_acquire) > 0;
  }

  // False when the pool goes.
  bool Sleep() {
    if (SpinUntil([this] { return SomethingWaits(); })) return true;
    MutexLock lock(mutex_);
    ++sleepers_;
    while (!SomethingWaits() && !stopping_) changed_.Wait(mutex_);
    --sleepers_;
    return SomethingWaits() || !stopping_;
  }

  void Work() {
    while (DoSomething() || Sleep()) {
    }
  }

  Mutex mutex_;
  CondVar changed_;      // something waits
  CondVar helper_left_;  // some loop's
  std::deque<std::unique_ptr<Task>> tasks_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Task>> tiny_ ABSL_GUARDED_BY(mutex_);
  std::deque<SharedLoop*> loops_ ABSL_GUARDED_BY(mutex_);
  bool loops_turn_ ABSL_GUARDED_BY(mutex_) = false;
  size_t sleepers_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // What the queues hold, to look at without the mutex; written under it.
  std::atomic<int64_t> tasks_waiting_{0};  // tiny ones, too
  std::atomic<int64_t> tiny_waiting_{0};
  std::atomic<int64_t> num_loops_{0};
  std::atomic<int64_t> seats_waiting_{0};
  std::vector<std::thread> workers_;
};

WorkerPool::WorkerPool(int threads)
    : threads_(threads), workers_(std::make_unique<Threads>(threads)) {}
WorkerPool::~WorkerPool() = default;

void WorkerPool::Enqueue(std::unique_ptr<Task> task, Size size) {
  workers_->Enqueue(std::move(task), size);
}

void WorkerPool::ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
  ParallelForUntil(chunks, [&](int64_t chunk) {
    body(chunk);
    return Loop::kContinue;
  });
}

void WorkerPool::ParallelForUntil(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
  if (chunks > 1 && threads_ > 1) return workers_->ParallelFor(chunks, body);
  for (int64_t i = 0; i < chunks; ++i) {
    if (body(i) == Loop::kEnd) return;
  }
}

void Workers::ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) const {
  pool_.ParallelForUntil(chunks, [&](int64_t chunk) {
    if (ShouldStop()) return WorkerPool::Loop::kEnd;
    body(chunk);
    return stopped() ? WorkerPool::Loop::kEnd : WorkerPool::Loop::kContinue;
  });
}

bool Workers::ShouldStop() const {
  if (stopped()) return true;
  if (!stop_()) return false;
  stopped_.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace opserve
