// Bounds on the calls of a device: their number, their bytes and their expected wait. A call beyond
// a bound is refused at once.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/client_id.h"
#include "core/base/mutex.h"
#include "core/base/shared_limit.h"

namespace opserve {

struct AdmissionLimits {
  int64_t max_calls = 4096;
  // Of inputs, outputs and workspaces; 0: as much as the device has of memory. A call that is
  // alone is never refused by it.
  int64_t max_bytes = 0;
  // The longest expected wait of a call, on top of its own time: a call that computes for long may
  // wait for long.
  absl::Duration max_wait = absl::Milliseconds(500);
  // The part of the calls and bytes that one client may hold; see SharedLimit.
  double client_share = 1;
};

// Thread-safe. Keeps the estimated work that waits, by client, and corrects estimates by how long
// calls really waited. Clients take turns, so a client waits for its own work, and for each other
// client at most as long as for its own work. The calls of one client therefore do not shut out
// the others.
class Admission {
 public:
  enum class Refusal : uint8_t { kNone, kCalls, kBytes, kWait, kDeadline };

  struct Demand {
    ClientId client = ClientId::kNone;
    int64_t bytes = 0;
    absl::Duration time;  // estimated, on one thread
    absl::Time deadline = absl::InfiniteFuture();
    absl::Time now;
    bool is_tiny = false;  // WorkerPool::Size::kTiny: it goes before what is not
  };

  // An admitted call. The destructor ends it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place() { Leave(); }

    // Its turn has come.
    void Start(absl::Time now);
    // What it takes from now on, where that is known better than before.
    void SetTime(absl::Duration time);
    // From Admit to Start.
    absl::Duration waited() const { return waited_; }

   private:
    friend class Admission;
    void Leave();
    Admission* admission_ = nullptr;
    Demand demand_;
    absl::Duration expected_;  // zero where there is nothing to learn from the wait
    absl::Duration waited_;
  };

  struct Load {
    int64_t calls = 0;
    int64_t bytes = 0;
    absl::Duration expected_wait;  // of a call that came now
  };

  Admission(const AdmissionLimits& limits, int threads)
      : limits_(limits),
        threads_(threads),
        calls_(limits.max_calls, limits.client_share),
        bytes_(limits.max_bytes, limits.client_share) {}

  // RESOURCE_EXHAUSTED with the time to try again, or DEADLINE_EXCEEDED when the wait would outlast
  // the deadline; `refusal` says which. The admission must outlive the place.
  absl::StatusOr<Place> Admit(const Demand& demand, Refusal& refusal);

  // A place for work that waits on a stream, where other bounds apply. It is never refused, but it
  // counts in the expected wait of other calls.
  Place Enter(const Demand& demand);

  Load load() const;

 private:
  absl::Duration MaxWait(const Demand& demand) const;
  // Of a call of the client's.
  absl::Duration ExpectedWait(const Demand& demand) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration TotalWait() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Place Seat(const Demand& demand) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Refusal Check(const Demand& demand) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Refuse(Refusal refusal, const Demand& demand) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const AdmissionLimits limits_;
  const int threads_;
  mutable Mutex mutex_;
  SharedLimit calls_ ABSL_GUARDED_BY(mutex_);
  SharedLimit bytes_ ABSL_GUARDED_BY(mutex_);
  // Estimated, of calls that are not over: of all, and of each client that has some.
  struct Work {
    absl::Duration time;
    int64_t calls = 0;
  };
  absl::Duration work_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<ClientId, Work> work_of_ ABSL_GUARDED_BY(mutex_);
  int64_t long_calls_ ABSL_GUARDED_BY(mutex_) = 0;  // calls that are not tiny
  double scale_ ABSL_GUARDED_BY(mutex_) = 1;        // real wait over expected
};

}  // namespace opserve
