// Memory that the server makes and shares with clients on its host. No client can take it away
// while the server uses it: a region neither shrinks nor grows, and lives as long as anyone here
// holds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/unique_fd.h"

namespace opserve::server {

// Regions of all clients together.
inline constexpr int64_t kMaxRegions = 1024;

// Mapped while the object lives. Others may change its bytes at any time.
class SharedRegion {
 public:
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  // 16 random bytes.
  const std::string& id() const { return id_; }
  // As large as was asked for, aligned to a page.
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class RegionTable;
  struct Ledger;
  SharedRegion(std::shared_ptr<Ledger> ledger, size_t mapped_bytes);

  const std::shared_ptr<Ledger> ledger_;
  const size_t mapped_bytes_;  // whole pages
  std::string id_;
  std::span<std::byte> bytes_;
  std::atomic<bool> is_discarded_ = false;
};

// Thread-safe. Regions may outlive it.
class RegionTable {
 public:
  struct Stats {
    int64_t regions = 0;  // now, with those that were released but are in use
    int64_t bytes = 0;    // theirs, in whole pages
    int64_t limit_bytes = 0;
    int64_t allocated = 0;  // since the start
    int64_t refused = 0;
  };

  struct NewRegion {
    std::shared_ptr<SharedRegion> region;
    UniqueFd fd;  // to be mapped by the client: nobody can resize what is behind it
  };

  // What is to become of a region's bytes when it goes.
  enum class Contents : uint8_t {
    kDiscarded,  // their memory is freed, though clients may still map it (they see zeros)
    kKept,       // for as long as a client maps them
  };

  // `limit_bytes` > 0: of all regions together.
  explicit RegionTable(int64_t limit_bytes);
  ~RegionTable();

  // Zeros. 161002 naming size_bytes for a size that is not > 0, RESOURCE_EXHAUSTED naming
  // size_bytes or regions beyond the bounds, or where the system has none.
  absl::StatusOr<NewRegion> Allocate(int64_t size_bytes);

  // nullptr: no region has that id, or it was released.
  std::shared_ptr<SharedRegion> Find(std::string_view id) const;

  // From now on it is not found; it goes with the last that holds it. Nothing for an unknown id.
  void Release(std::string_view id, Contents contents);

  Stats stats() const;

 private:
  absl::StatusOr<NewRegion> Make(int64_t size_bytes);

  const std::shared_ptr<SharedRegion::Ledger> ledger_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<SharedRegion>> regions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
