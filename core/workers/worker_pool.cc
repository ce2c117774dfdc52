// WorkerPool: one queue of tasks and of chunks, which the threads of an arena come to drain.
#include "core/workers/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "core/base/mutex.h"
#include "core/workers/relief_threads.h"
#include "core/workers/shared_loop.h"
#include "core/workers/spin_until.h"
#include "core/workers/task_queue.h"
#include "core/workers/thread_arena.h"
#include "core/workers/waiting_work.h"

namespace opserve {
namespace {

// How long a thread stays with a loop when others wait for it, if its chunks are shorter.
constexpr std::chrono::microseconds kTurn{50};

// Threads that one thread calls, at some microseconds each: those that come call others in turn.
constexpr int kCallsAtATime = 4;

// Tiny tasks that go before one that is not, when both wait for a thread.
constexpr int kTinyInARow = 8;

// How long no thread has taken a task when relief comes, or how long a client has waited with
// nothing running whatever others did meanwhile.
constexpr std::chrono::milliseconds kPatience{5};
constexpr std::chrono::milliseconds kGreatestPatience{100};

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

class WorkerPool::Discipline final : private ReliefThreads::Source {
 public:
  Discipline(int threads, std::optional<int> numa_node)
      : threads_(threads),
        relief_(std::make_unique<ReliefThreads>(static_cast<ReliefThreads::Source&>(*this),
                                                kMaxReliefThreads)),
        arena_(
            threads, [this] { Visit(); }, numa_node) {}

  // Relief first: its tasks may leave others, which are the arena's.
  ~Discipline() override {
    std::unique_ptr<ReliefThreads> relief;
    {
      MutexLock lock(mutex_);
      relief.swap(relief_);
    }
    relief.reset();
    arena_.WaitForVisits();
  }

  void Enqueue(std::unique_ptr<Task> task, Size size, ClientId client) {
    int visits = 0;
    {
      MutexLock lock(mutex_);
      QueueOf(size).Push(client, std::move(task), SteadyClock::now());
      if (size == Size::kTiny) waiting_.AddTinyTasks(1);
      waiting_.AddTasks(1);
      visits = VisitsToCallFor();
      // Even where a thread is called for: it may not come, as oneTBB counts those of the process
      // that wait for something as those that work.
      enqueued_since_watch_ = true;
      CallRelief();
    }
    CallForVisits(visits);
  }

  // The caller works too, so this finishes even when every thread is busy.
  void ParallelFor(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
    const InLoop here;
    SharedLoop loop(chunks, body, std::min<int64_t>(chunks - 1, threads_ - 1));
    if (loop.seats > 0) Publish(loop);
    while (loop.RunChunk()) {
      if (here.is_outermost()) RunTinyTask();
    }
    if (threads_ > 1) Retire(loop);
  }

 private:
  using SteadyClock = std::chrono::steady_clock;
  using Queue = TaskQueue<std::unique_ptr<Task>>;

  // What a thread does next: a task that it has taken, or chunks of a loop.
  struct Turn {
    SharedLoop* loop = nullptr;
    Queue::Taken taken;  // where `loop` is null
    Size size = Size::kAny;
  };

  // A thread of the arena stays as long as something waits, and a little longer. It comes as one
  // that looks: who called for it has counted it.
  void Visit() {
    for (std::optional<Turn> turn = Look(); turn.has_value();) {
      turn = RunAndTakeNext(*std::move(turn));
      if (!turn.has_value()) turn = Look();
    }
  }

  // Empty: the thread leaves, and is no longer counted.
  std::optional<Turn> Look() {
    while (true) {
      const bool claimed = SpinUntil([this] { return waiting_.Claim(); });
      std::optional<Turn> turn;
      int visits = 0;
      {
        MutexLock lock(mutex_);
        turn = TakeTurn();
        if (claimed && !turn.has_value()) continue;
        --looking_;
        if (!turn.has_value()) --visiting_;
        visits = VisitsToCallFor();
      }
      CallForVisits(visits);
      return turn;
    }
  }

  // Empty: the thread counts as one that looks.
  std::optional<Turn> RunAndTakeNext(Turn turn) {
    const bool more = turn.loop != nullptr && RunChunks(*turn.loop);
    if (turn.loop == nullptr) RunTask(turn);
    MutexLock lock(mutex_);
    if (turn.loop != nullptr) {
      LeaveLoop(*turn.loop, more);
    } else {
      End(turn);
    }
    std::optional<Turn> next = TakeTurn();
    if (!next.has_value()) ++looking_;
    return next;
  }

  // How many threads are to come, which count as visiting and as looking from now on.
  int VisitsToCallFor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto wanted = static_cast<int>(
        std::min<int64_t>({waiting_.all() - looking_, threads_ - visiting_, kCallsAtATime}));
    if (wanted <= 0) return 0;
    visiting_ += wanted;
    looking_ += wanted;
    return wanted;
  }

  void CallForVisits(int count) {
    for (int i = 0; i < count; ++i) arena_.CallForVisit();
  }

  // What short work waits first, but not for ever; then tasks and chunks in turns.
  std::optional<Turn> TakeTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::optional<Turn> turn;
    if (tiny_in_a_row_ < kTinyInARow) turn = TakeTask(Size::kTiny);
    tiny_in_a_row_ = turn.has_value() ? tiny_in_a_row_ + 1 : 0;
    if (!turn.has_value() && loops_turn_) turn = TakeSeat();
    if (!turn.has_value()) turn = TakeTask(Size::kAny);
    if (!turn.has_value() && !loops_turn_) turn = TakeSeat();
    if (!turn.has_value()) turn = TakeTask(Size::kTiny);
    if (turn.has_value()) loops_turn_ = !loops_turn_;
    CallRelief();
    return turn;
  }

  // ---- Tasks ----

  Queue& QueueOf(Size size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return size == Size::kTiny ? tiny_ : tasks_;
  }

  std::optional<Turn> TakeTask(Size size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Queue& queue = QueueOf(size);
    if (queue.empty()) return std::nullopt;  // the clock is dear under the mutex
    return Begin(queue.Pop(SteadyClock::now()), size);
  }

  std::optional<Turn> Begin(std::optional<Queue::Taken> taken, Size size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!taken.has_value()) return std::nullopt;
    if (size == Size::kTiny) waiting_.AddTinyTasks(-1);
    waiting_.AddTasks(-1);
    if (taken->client == ClientId::kNone) ++own_tasks_;
    last_taken_ = taken->start;
    return Turn{nullptr, *std::move(taken), size};
  }

  void End(const Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (turn.taken.client == ClientId::kNone) --own_tasks_;
    QueueOf(turn.size).End(turn.taken.client, turn.taken.start, SteadyClock::now());
  }

  static void RunTask(Turn& turn) {
    turn.taken.task->Run();
    turn.taken.task.reset();
  }

  // On a thread that does something else next.
  void RunAndEnd(Turn turn) {
    RunTask(turn);
    MutexLock lock(mutex_);
    End(turn);
    CallRelief();
  }

  // Between two chunks of somebody else's.
  void RunTinyTask() {
    if (waiting_.tiny_tasks() == 0) return;
    std::optional<Turn> turn;
    {
      MutexLock lock(mutex_);
      turn = TakeTask(Size::kTiny);
    }
    if (turn.has_value()) RunAndEnd(*std::move(turn));
  }

  // ---- Loops ----

  void Publish(SharedLoop& loop) {
    int visits = 0;
    {
      MutexLock lock(mutex_);
      loop.published = true;
      loop.EnterLast(loops_);
      ++num_loops_;
      waiting_.AddSeats(loop.seats);
      visits = VisitsToCallFor();
    }
    CallForVisits(visits);
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
    if (!loop.published) return;
    loop.published = false;
    loop.Leave(loops_);
    --num_loops_;
    waiting_.AddSeats(-loop.seats);
    loop.seats = 0;
  }

  // Of the next loop in turn that has one; the caller becomes its helper.
  std::optional<Turn> TakeSeat() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (loops_.empty()) return std::nullopt;
    SharedLoop* loop = loops_.front();
    loop->Leave(loops_);
    if (--loop->seats > 0) loop->EnterLast(loops_);
    waiting_.AddSeats(-1);
    loop->helpers.fetch_add(1, std::memory_order_relaxed);
    return Turn{loop, {}, Size::kAny};
  }

  // A turn's worth, or more for as long as nothing else waits. Whether there may be further chunks.
  bool RunChunks(SharedLoop& loop) {
    const SteadyClock::time_point start = SteadyClock::now();
    while (loop.RunChunk()) {
      const bool others_wait =
          waiting_.tasks() > 0 || num_loops_.load(std::memory_order_acquire) > 1;
      if (others_wait && SteadyClock::now() - start >= kTurn) return true;
    }
    return false;
  }

  // The seat is free again where there are more chunks. From here on the loop may be gone.
  void LeaveLoop(SharedLoop& loop, bool more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!more) {
      Remove(loop);
    } else if (loop.published) {
      if (loop.seats++ == 0) loop.EnterLast(loops_);
      waiting_.AddSeats(1);
    }
    if (loop.helpers.fetch_sub(1, std::memory_order_release) == 1) helper_left_.NotifyAll();
  }

  // ---- Relief ----

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
    if (tiny.has_value() && other.has_value()) return std::min(tiny, other);
    if (tiny.has_value() || other.has_value()) return tiny.has_value() ? tiny : other;
    // Looks once more before it sleeps, so that few tasks have to wake it.
    relief_called_ = std::exchange(enqueued_since_watch_, false);
    if (relief_called_) return SteadyClock::now() + kPatience;
    return std::nullopt;
  }

  absl::AnyInvocable<void()> TakeDue() override {
    MutexLock lock(mutex_);
    if (own_tasks_ > 0) return nullptr;
    const SteadyClock::time_point now = SteadyClock::now();
    const auto patience = now - last_taken_ < kPatience ? kGreatestPatience : kPatience;
    for (const Size size : {Size::kTiny, Size::kAny}) {
      std::optional<Turn> turn = Begin(QueueOf(size).PopIdle(now - patience, now), size);
      if (!turn.has_value()) continue;
      return [this, turn = std::move(turn)]() mutable { RunAndEnd(*std::move(turn)); };
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

  const int threads_;
  Mutex mutex_;
  CondVar helper_left_;  // some loop's
  Queue tasks_ ABSL_GUARDED_BY(mutex_);
  Queue tiny_ ABSL_GUARDED_BY(mutex_);
  int own_tasks_ ABSL_GUARDED_BY(mutex_) = 0;  // of ClientId::kNone that run
  SteadyClock::time_point last_taken_ ABSL_GUARDED_BY(mutex_);
  int tiny_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
  bool relief_called_ ABSL_GUARDED_BY(mutex_) = false;  // it watches
  bool enqueued_since_watch_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<SharedLoop*> loops_ ABSL_GUARDED_BY(mutex_);  // with free seats; the first is next
  bool loops_turn_ ABSL_GUARDED_BY(mutex_) = false;
  int visiting_ ABSL_GUARDED_BY(mutex_) = 0;  // threads in the arena, or called for
  int looking_ ABSL_GUARDED_BY(mutex_) = 0;   // of these: what comes next will be seen by them
  WaitingWork waiting_;                       // changes under the mutex
  std::atomic<int64_t> num_loops_{0};         // likewise; without free seats, too
  std::unique_ptr<ReliefThreads> relief_ ABSL_GUARDED_BY(mutex_);
  ThreadArena arena_;
};

WorkerPool::WorkerPool(int threads, std::optional<int> numa_node)
    : threads_(threads), discipline_(std::make_unique<Discipline>(threads, numa_node)) {}
WorkerPool::~WorkerPool() = default;

void WorkerPool::Enqueue(std::unique_ptr<Task> task, Size size, ClientId client) {
  discipline_->Enqueue(std::move(task), size, client);
}

void WorkerPool::ParallelFor(int64_t chunks, absl::FunctionRef<void(int64_t)> body) {
  ParallelForUntil(chunks, [&](int64_t chunk) {
    body(chunk);
    return Loop::kContinue;
  });
}

void WorkerPool::ParallelForUntil(int64_t chunks, absl::FunctionRef<Loop(int64_t)> body) {
  if (chunks > 1) return discipline_->ParallelFor(chunks, body);
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
