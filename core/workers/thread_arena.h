// The threads of a worker pool: oneTBB's. The one file that includes oneTBB is thread_arena.cc.
//
// What runs next is the pool's to say; that there are threads, and how they sleep and wake, is
// oneTBB's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace opserve {

// The NUMA nodes with cores that this process may use, numbered as by numactl; none where oneTBB
// cannot tell (its library libtbbbind is missing).
std::vector<int> NumaNodes();

// The cores of one of NumaNodes() that this process may use.
int CoresOfNumaNode(int node);

// Threads of oneTBB's, and what they are for. Thread-safe.
class ThreadArena {
 public:
  // Threads of all arenas of a process together.
  static constexpr int kMaxThreadsOfProcess = 4096;

  // At most `threads` threads are in the arena at a time, none of them the caller's. All that the
  // process's arenas may need are there when this returns, since oneTBB ends the process where it
  // lacks one later. While they are in the arena they run on the cores of `numa_node` alone, one of
  // NumaNodes(); nullopt: on any. Throws ThreadError where there can be no more of them. `visit`
  // must not throw, and may be called by many threads at once.
  ThreadArena(int threads, absl::AnyInvocable<void() const> visit,
              std::optional<int> numa_node = std::nullopt);
  // Waits for the visits.
  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;

  // A thread of the arena calls `visit` once, as soon as fewer than `threads` are at it.
  void CallForVisit();
  // Until all that were called for are over, those too that visits call for.
  void WaitForVisits();

 private:
  class Arena;
  const std::unique_ptr<Arena> arena_;
};

}  // namespace opserve
