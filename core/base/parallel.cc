// WorkerPool: one queue of tasks and of chunks, drained by plain threads.
#include "core/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/relief_threads.h"
#include "core/base/shared_loop.h"
#include "core/base/task_queue.h"
#include "core/base/thread.h"

namespace opserve {
namespace {

// How long a thread looks for work before it sleeps: waking it costs about as much.
constexpr std::chrono::microseconds kSpin{50};

// Tiny tasks that go before one that is not, when both wait for a thread.
constexpr int kTinyInARow = 8;

using SteadyClock = std::chrono::steady_clock;
// How long no thread has taken a task when relief comes, or how long a client has waited with
// nothing running whatever others did meanwhile.
constexpr std::chrono::milliseconds kPatience{5};
constexpr std::chrono::milliseconds kGreatestPatience{100};

// Calls `ready` until it is true or the time is over; others may have the core meanwhile.
template <typename Ready>
bool SpinUntil(Ready ready) {
  if (ready()) return true;
  const SteadyClock::time_point end = SteadyClock::now() + kSpin;
  do {
    sched_yield();
    if (ready()) return true;
  } while (SteadyClock::now() < end);
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

class WorkerPool::Threads final : private ReliefThreads::Source {
 public:
  explicit Threads(int threads) {
    workers_.reserve(static_cast<size_t>(threads));
    {
      // Before the workers, which call it.
      MutexLock lock(mutex_);
      relief_ = std::make_unique<ReliefThreads>(static_cast<ReliefThreads::Source&>(*this),
                                                kMaxReliefThreads);
    }
    try {
      for (int i = 1; i <= threads; ++i) {
        workers_.push_back(
            StartThread(absl::StrCat("worker ", i, " of ", threads), [this] { Work(); }));
      }
    } catch (...) {
      Stop();
      throw;
    }
  }

  ~Threads() override { Stop(); }

  void Enqueue(std::unique_ptr<Task> task, Size size, ClientId client) {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      QueueOf(size).Push(client, std::move(task), SteadyClock::now());
      if (size == Size::kTiny) tiny_waiting_.fetch_add(1, std::memory_order_release);
      tasks_waiting_.fetch_add(1, std::memory_order_release);
      wake = sleepers_ > 0;
      if (!wake) CallRelief();
    }
    if (wake) changed_.NotifyOne();
  }

  // The caller works too, so this finishes even when every worker is busy.
  void ParallelFor(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
    const InLoop here;
    const auto others = static_cast<int64_t>(workers_.size()) - 1;
    SharedLoop loop(chunks, body, std::min(chunks - 1, others));
    if (loop.seats > 0) Publish(loop);
    while (loop.RunChunk()) {
      if (here.is_outermost()) RunTinyTask();
    }
    if (others > 0) Retire(loop);
  }

 private:
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

  using Queue = TaskQueue<std::unique_ptr<Task>>;

  // A task that a thread has taken.
  struct Turn {
    Queue::Taken taken;
    Size size;
  };

  Queue& QueueOf(Size size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return size == Size::kTiny ? tiny_ : tasks_;
  }

  // Between two chunks of somebody else's.
  void RunTinyTask() {
    if (tiny_waiting_.load(std::memory_order_acquire) == 0) return;
    std::optional<Turn> turn;
    {
      MutexLock lock(mutex_);
      turn = Take(Size::kTiny);
    }
    if (turn.has_value()) Run(*std::move(turn));
  }

  std::optional<Turn> Take(Size size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return Begin(QueueOf(size).Pop(SteadyClock::now()), size);
  }

  std::optional<Turn> Begin(std::optional<Queue::Taken> taken, Size size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!taken.has_value()) return std::nullopt;
    if (size == Size::kTiny) tiny_waiting_.fetch_sub(1, std::memory_order_relaxed);
    tasks_waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (taken->client == ClientId::kNone) ++own_tasks_;
    last_taken_ = taken->start;
    return Turn{*std::move(taken), size};
  }

  void Run(Turn turn) {
    turn.taken.task->Run();
    turn.taken.task.reset();
    MutexLock lock(mutex_);
    if (turn.taken.client == ClientId::kNone) --own_tasks_;
    QueueOf(turn.size).End(turn.taken.client, turn.taken.start, SteadyClock::now());
    CallRelief();
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

  // What short work waits first, but not for ever; then tasks and chunks in turns.
  std::optional<Turn> TakeTinyFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::optional<Turn> turn;
    if (tiny_in_a_row_ < kTinyInARow) turn = Take(Size::kTiny);
    tiny_in_a_row_ = turn.has_value() ? tiny_in_a_row_ + 1 : 0;
    return turn;
  }

  bool DoSomething() {
    std::optional<Turn> turn;
    SharedLoop* loop = nullptr;
    {
      MutexLock lock(mutex_);
      turn = TakeTinyFirst();
      if (!turn.has_value() && loops_turn_) loop = TakeLoop();
      if (!turn.has_value() && loop == nullptr) turn = Take(Size::kAny);
      if (!turn.has_value() && loop == nullptr) loop = TakeLoop();
      if (!turn.has_value() && loop == nullptr) turn = Take(Size::kTiny);
      loops_turn_ = !loops_turn_;
      CallRelief();
    }
    const bool something = loop != nullptr || turn.has_value();
    if (loop != nullptr) {
      Help(*loop);
    } else if (turn.has_value()) {
      Run(*std::move(turn));
    }
    return something;
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

  // From when on a task is relief's; nullopt when none that waits is.
  std::optional<SteadyClock::time_point> DueOf(const Queue& queue) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (own_tasks_ > 0) return std::nullopt;
    const std::optional<SteadyClock::time_point> since = queue.LongestIdleSince();
    if (!since.has_value()) return std::nullopt;
    return std::min(std::max(*since, last_taken_) + kPatience, *since + kGreatestPatience);
  }

  std::optional<SteadyClock::time_point> NextDue() override {
    MutexLock lock(mutex_);
    const auto tiny = DueOf(tiny_);
    const auto other = DueOf(tasks_);
    relief_called_ = tiny.has_value() || other.has_value();
    return tiny.has_value() && other.has_value() ? std::min(tiny, other) : tiny ? tiny : other;
  }

  absl::AnyInvocable<void()> TakeDue() override {
    MutexLock lock(mutex_);
    if (own_tasks_ > 0) return nullptr;
    const SteadyClock::time_point now = SteadyClock::now();
    const auto patience = now - last_taken_ < kPatience ? kGreatestPatience : kPatience;
    for (const Size size : {Size::kTiny, Size::kAny}) {
      std::optional<Turn> turn = Begin(QueueOf(size).PopIdle(now - patience, now), size);
      if (!turn.has_value()) continue;
      return [this, turn = std::move(turn)]() mutable { Run(*std::move(turn)); };
    }
    return nullptr;
  }

  // Where something waits that may become relief's.
  void CallRelief() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (relief_called_ || own_tasks_ > 0 || relief_ == nullptr) return;
    if (!tiny_.has_idle_clients() && !tasks_.has_idle_clients()) return;
    relief_called_ = true;
    relief_->Call();
  }

  void Stop() {
    // Relief first: its tasks may leave others, which are the workers'.
    std::unique_ptr<ReliefThreads> relief;
    {
      MutexLock lock(mutex_);
      relief.swap(relief_);
    }
    relief.reset();
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& worker : workers_) worker.join();
  }

  Mutex mutex_;
  CondVar changed_;      // something waits
  CondVar helper_left_;  // some loop's
  Queue tasks_ ABSL_GUARDED_BY(mutex_);
  Queue tiny_ ABSL_GUARDED_BY(mutex_);
  int own_tasks_ ABSL_GUARDED_BY(mutex_) = 0;  // of ClientId::kNone that run
  SteadyClock::time_point last_taken_ ABSL_GUARDED_BY(mutex_);
  int tiny_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
  bool relief_called_ ABSL_GUARDED_BY(mutex_) = false;  // it knows that something waits
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
  std::unique_ptr<ReliefThreads> relief_ ABSL_GUARDED_BY(mutex_);
};

WorkerPool::WorkerPool(int threads)
    : threads_(threads), workers_(std::make_unique<Threads>(threads)) {}
WorkerPool::~WorkerPool() = default;

void WorkerPool::Enqueue(std::unique_ptr<Task> task, Size size, ClientId client) {
  workers_->Enqueue(std::move(task), size, client);
}

void WorkerPool::ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
  ParallelForUntil(chunks, [&](int64_t chunk) {
    body(chunk);
    return Loop::kContinue;
  });
}

void WorkerPool::ParallelForUntil(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
  if (chunks > 1) return workers_->ParallelFor(chunks, body);
  if (chunks == 1) body(0);
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
