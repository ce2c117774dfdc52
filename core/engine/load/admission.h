// What a device may have under way: bounds on calls, on bytes and on the wait, and refusal at once
// beyond them.
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
  // How long a call may be expected to wait for its turn, besides its own time: who computes long
  // may wait long.
  absl::Duration max_wait = absl::Milliseconds(500);
  // What one client may hold of the calls and bytes that others leave; see SharedLimit.
  double client_share = 1;
};

// Thread-safe. Knows how much estimated work waits, whose it is, and from how long calls really
// waited how good the estimates are. A client waits for its own work, and no more than as long for
// each other client's, as they have their turns: so what one has brought keeps none of the others
// out.
class Admission {
 public:
  enum class Refusal : uint8_t { kNone, kCalls, kBytes, kWait, kDeadline };

  struct Demand {
    ClientId client = ClientId::kNone;
    int64_t bytes = 0;
    absl::Duration time;  // estimated, on one thread
    absl::Time deadline = absl::InfiniteFuture();
    absl::Time now;
  };

  // An admitted call; over when the object goes.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place() { Leave(); }

    // Its turn has come.
    void Start(absl::Time now);
    // From Admit to Start.
    absl::Duration waited() const { return waited_; }

   private:
    friend class Admission;
    void Leave();
    Admission* admission_ = nullptr;
    Demand demand_;
    absl::Duration expected_;
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

  // A place for work that waits for its turn elsewhere, on a stream, where it is bounded otherwise:
  // others wait for it all the same.
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
  double scale_ ABSL_GUARDED_BY(mutex_) = 1;  // real wait over expected
};

}  // namespace opserve
