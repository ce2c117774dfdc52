// Holds the process to a bound on its memory, whatever clients do.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "server/connections/connection_table.h"

namespace opserve::server {

// gRPC buffers every unary request until it is whole, without a bound on all of them together: so
// this watches what the process really takes. Above the bound it gives free memory back to the
// system, and if that is not enough cuts connections: of the client whose unfinished requests take
// most, those that take most. Below, it gives back what has not been used for some seconds. Not
// thread-safe.
class MemoryGuard {
 public:
  // Of the heap.
  struct Heap {
    int64_t used_bytes = 0;
    int64_t free_bytes = 0;  // that it keeps
  };
  struct System {
    std::function<int64_t()> resident_bytes;  // the process's own memory that is in use
    std::function<Heap()> heap;
    std::function<void()> trim;  // gives the heap's free memory back
  };
  static System RealSystem();

  // `limit_bytes` 0: no bound. The others must outlive it.
  MemoryGuard(int64_t limit_bytes, const ConnectionTable& connections, const Clock& clock,
              System system = RealSystem());

  // To be called about every 100 ms.
  void Check();

 private:
  struct Sample {
    absl::Time time;
    int64_t used_bytes;
  };

  void KeepBelowLimit(absl::Time now);
  void CutLargest(int64_t excess_bytes) const;
  // Of unix sockets the kernel does not say what came.
  void CutUnixSocket() const;
  void TrimUnused(absl::Time now);

  const int64_t limit_bytes_;
  const ConnectionTable& connections_;
  const Clock& clock_;
  const System system_;
  absl::Time last_trim_ = absl::InfinitePast();
  int64_t least_since_trim_ = 0;      // resident
  int64_t most_used_since_trim_ = 0;  // of the heap
  absl::Time next_sample_ = absl::InfinitePast();
  std::deque<Sample> samples_;  // of the last seconds
};

}  // namespace opserve::server
