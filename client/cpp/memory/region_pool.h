// Shared memory that one client uses again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/memory/memory_socket.h"
#include "client/cpp/values/shared_region.h"
#include "core/base/mutex.h"

namespace opserve::client {

// How many bytes of regions there are, whichever pools they are of, and how many there may be.
class RegionBudget {
 public:
  explicit RegionBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  bool Take(int64_t bytes);
  void GiveBack(int64_t bytes) { bytes_.fetch_sub(bytes); }
  int64_t bytes() const { return bytes_.load(); }

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> bytes_{0};
};

// Regions of one connection to a server's socket. Thread-safe. Regions may outlive it.
class RegionPool : public std::enable_shared_from_this<RegionPool> {
 public:
  // What was not used for `idle` goes back to the server. A server that gave no memory while calls
  // waited for it for `patience`, all together, is given up.
  RegionPool(std::string_view socket_path, std::shared_ptr<RegionBudget> budget,
             absl::Duration patience, absl::Duration idle);

  // The connection. Once, before all else.
  absl::Status Connect(absl::Time deadline);

  // Of at least `bytes` > 0, with any contents. It is free again, for another Take, when the last
  // copy of the pointer goes, unless it is spoiled. Waits only for memory that is new: for others
  // who wait for theirs, for `patience` at most, and then for the server; not beyond `deadline`.
  // RESOURCE_EXHAUSTED where there is no room, with the client or the server, or it came too late;
  // any other error: the pool is of no use any more.
  absl::StatusOr<std::shared_ptr<SharedRegion>> Take(int64_t bytes, absl::Time deadline);

 private:
  struct Free {
    std::shared_ptr<SharedRegion> region;
    absl::Time since;
  };

  std::shared_ptr<SharedRegion> TakeFree(int64_t bytes);
  absl::StatusOr<std::shared_ptr<SharedRegion>> Make(int64_t bytes, absl::Time deadline);
  absl::StatusOr<std::shared_ptr<SharedRegion>> Ask(int64_t bytes, absl::Time now,
                                                    absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(socket_mutex_);
  // Room in the budget, if need be that of free regions.
  bool MakeRoom(int64_t bytes);
  std::shared_ptr<SharedRegion> Lend(std::shared_ptr<SharedRegion> region);
  void Return(std::shared_ptr<SharedRegion> region);
  void Discard(const SharedRegion& region);
  void Trim();
  void TrimLater();

  const std::shared_ptr<RegionBudget> budget_;
  const absl::Duration patience_;
  const absl::Duration idle_;
  Mutex socket_mutex_;
  MemorySocket socket_ ABSL_GUARDED_BY(socket_mutex_);
  bool is_broken_ ABSL_GUARDED_BY(socket_mutex_) = false;
  // How long calls have waited for the answer that the server owes.
  absl::Duration waited_ ABSL_GUARDED_BY(socket_mutex_);
  Mutex mutex_;
  std::vector<Free> free_ ABSL_GUARDED_BY(mutex_);  // the one that was used last is last
  bool trims_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace opserve::client
