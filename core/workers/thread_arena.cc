#include "core/workers/thread_arena.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/thread.h"

#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/info.h"
#include "oneapi/tbb/task_arena.h"

namespace opserve {
namespace {

// As much as threads have by default, so that a kernel may use on one thread what it may use on
// another.
constexpr size_t kStackBytes = size_t{8} << 20;

// oneTBB's number for any node, or for one that it does not know.
constexpr int kAnyNode = oneapi::tbb::task_arena::automatic;

// What all arenas share: oneTBB's limits, and its threads, which stay once they are there.
class OneTbb {
 public:
  static OneTbb& Instance() {
    static OneTbb& instance = *new OneTbb;  // its threads outlive all that is destroyed at exit
    return instance;
  }

  void Claim(int threads) {
    MutexLock lock(mutex_);
    if (claimed_ + threads > ThreadArena::kMaxThreadsOfProcess) {
      throw ThreadError(
          std::make_error_code(std::errc::resource_unavailable_try_again),
          absl::StrCat("cannot have ", claimed_ + threads, " worker threads in one process, only ",
                       ThreadArena::kMaxThreadsOfProcess));
    }
    if (claimed_ + threads > started_) Start(claimed_ + threads);
    claimed_ += threads;
  }

  void Release(int threads) {
    MutexLock lock(mutex_);
    claimed_ -= threads;
  }

 private:
  // So many in all. An arena of that size holds each of them until the last has come, or none comes
  // any more: oneTBB wakes fewer where others of its threads wait for something. Those are started
  // when they are needed.
  void Start(int threads) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    RehearseThreads(threads, "for workers");
    auto arena = std::make_unique<oneapi::tbb::task_arena>(threads, 0);
    const auto muster = std::make_shared<Muster>(threads);
    for (int i = 0; i < threads; ++i) arena->enqueue([muster] { muster->Come(); });
    muster->Wait();
    started_ = threads;
    // The last arena that goes would take the threads with it.
    keeper_ = std::move(arena);
  }

  class Muster {
   public:
    explicit Muster(int missing) : missing_(missing) {}
    void Come() {
      MutexLock lock(mutex_);
      --missing_;
      came_.NotifyOne();
      while (missing_ > 0) over_.Wait(mutex_);
    }
    void Wait() {
      MutexLock lock(mutex_);
      for (int seen = 0; missing_ > 0 && missing_ != seen;) {
        seen = missing_;
        while (missing_ == seen && came_.WaitFor(mutex_, kNoneComes)) {
        }
      }
      missing_ = 0;
      over_.NotifyAll();
    }

   private:
    static constexpr std::chrono::milliseconds kNoneComes{200};

    Mutex mutex_;
    CondVar came_;  // one more
    CondVar over_;
    int missing_ ABSL_GUARDED_BY(mutex_);
  };

  // The caller of oneTBB counts as a thread of its.
  const oneapi::tbb::global_control most_{oneapi::tbb::global_control::max_allowed_parallelism,
                                          ThreadArena::kMaxThreadsOfProcess + 1};
  const oneapi::tbb::global_control stack_{oneapi::tbb::global_control::thread_stack_size,
                                           kStackBytes};
  Mutex mutex_;
  int claimed_ ABSL_GUARDED_BY(mutex_) = 0;
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<oneapi::tbb::task_arena> keeper_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

// A visit is asked of one oneTBB arena with room for a single thread, or for few where there are
// many threads: oneTBB wakes all the threads that an arena has room for, whatever is asked of it.
class ThreadArena::Arena {
 public:
  Arena(int threads, absl::AnyInvocable<void() const> visit, std::optional<int> numa_node)
      : threads_(threads), visit_(std::move(visit)) {
    OneTbb::Instance().Claim(threads);
    const int gates = std::min(threads, kMaxGates);
    for (int i = 0; i < gates; ++i) AddGate((threads + i) / gates, numa_node);
  }
  ~Arena() {
    WaitForVisits();
    OneTbb::Instance().Release(threads_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void CallForVisit() {
    Gate* const gate = visits_->Begin();
    if (gate == nullptr) return;
    gate->enqueue([this, gate, visits = visits_] {
      do {
        visit_();
      } while (visits->End(*gate));  // from here on the arena may be gone
    });
  }
  void WaitForVisits() { visits_->WaitForAll(); }

 private:
  using Gate = oneapi::tbb::task_arena;
  // oneTBB looks through the arenas of a process whenever a thread comes or goes.
  static constexpr int kMaxGates = 64;

  // The visits that were called for and are not over, and the threads that can be called. Outlives
  // the arena, in the last visit's end.
  class OpenVisits {
   public:
    void AddThread(Gate& gate) {
      MutexLock lock(mutex_);
      free_.push_back(&gate);
    }
    // Where the thread is to be called; nullptr: one that is at a visit makes this one next.
    Gate* Begin() {
      MutexLock lock(mutex_);
      ++open_;
      if (free_.empty()) {
        ++unserved_;
        return nullptr;
      }
      // Who was freed last is still awake.
      Gate* const gate = free_.back();
      free_.pop_back();
      return gate;
    }
    // Whether the thread is to make another one.
    bool End(Gate& gate) {
      MutexLock lock(mutex_);
      if (--open_ == 0) over_.NotifyAll();
      if (unserved_ > 0) {
        --unserved_;
        return true;
      }
      free_.push_back(&gate);
      return false;
    }
    void WaitForAll() {
      MutexLock lock(mutex_);
      while (open_ > 0) over_.Wait(mutex_);
    }

   private:
    Mutex mutex_;
    CondVar over_;
    std::vector<Gate*> free_ ABSL_GUARDED_BY(mutex_);
    int open_ ABSL_GUARDED_BY(mutex_) = 0;
    int unserved_ ABSL_GUARDED_BY(mutex_) = 0;  // of these: no thread was called
  };

  void AddGate(int threads, std::optional<int> numa_node) {
    Gate::constraints constraints;  // whose constructor with these is not there for every compiler
    constraints.numa_id = numa_node.value_or(kAnyNode);
    constraints.max_concurrency = threads;
    Gate& gate =
        *gates_.emplace_back(std::make_unique<Gate>(constraints, /*reserved_for_masters=*/0));
    gate.initialize();
    for (int i = 0; i < threads; ++i) visits_->AddThread(gate);
  }

  const int threads_;
  const absl::AnyInvocable<void() const> visit_;
  const std::shared_ptr<OpenVisits> visits_ = std::make_shared<OpenVisits>();
  std::vector<std::unique_ptr<Gate>> gates_;
};

std::vector<int> NumaNodes() {
  std::vector<int> nodes = oneapi::tbb::info::numa_nodes();
  std::erase(nodes, kAnyNode);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

int CoresOfNumaNode(int node) { return oneapi::tbb::info::default_concurrency(node); }

ThreadArena::ThreadArena(int threads, absl::AnyInvocable<void() const> visit,
                         std::optional<int> numa_node)
    : arena_(std::make_unique<Arena>(threads, std::move(visit), numa_node)) {}
ThreadArena::~ThreadArena() = default;

void ThreadArena::CallForVisit() { arena_->CallForVisit(); }
void ThreadArena::WaitForVisits() { arena_->WaitForVisits(); }

}  // namespace opserve
