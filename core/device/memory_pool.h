// A device's memory: size-class buffers that stay warm between calls, bounded and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/client_id.h"
#include "core/base/clock.h"

namespace opserve {

class MemoryPool;

// Where a pool's memory comes from. Thread-safe.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // `bytes` > 0, 64-byte aligned; nullptr when there is none.
  virtual std::byte* Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* data, size_t bytes) = 0;
  // Makes a block that Allocate gave read as zero.
  virtual absl::Status Clear(std::byte* data, size_t bytes) = 0;
  // Whether Allocate gives blocks of that size which read as zero.
  virtual bool allocates_zeros(size_t /*bytes*/) const { return false; }
  // Whether the host may dereference its addresses. Sanitizers then poison unleased memory.
  virtual bool is_host_memory() const { return false; }

  // The host's memory: large blocks on huge pages where the kernel gives them. Lives forever.
  static MemorySource& Host();
};

// Who uses a lease.
struct Lessee {
  // The client that it is charged to.
  ClientId client = ClientId::kNone;
  // The id of the reader that may read the lease before it was written; no two readers have one id.
  // Such a lease contains zeros, or what the same reader left there. 0: nobody reads it before it
  // was written, and its contents are undefined.
  uint64_t reader = 0;
};

// A lease of pooled memory. The destructor returns it. It may outlive the pool.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept { *this = std::move(other); }
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer() { Release(); }

  // 64-byte aligned; nullptr for a buffer of 0 bytes.
  std::byte* data() const { return data_; }
  // What was asked for.
  size_t size() const { return size_; }

  void Release();

 private:
  friend class MemoryPool;
  struct Core;
  std::shared_ptr<Core> core_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  Lessee lessee_;
};

// Thread-safe.
class MemoryPool {
 public:
  struct Stats {
    int64_t limit_bytes = 0;
    int64_t used_bytes = 0;    // leased, rounded up to size classes
    int64_t cached_bytes = 0;  // free and warm
    int64_t hits = 0;          // leases served from the cache
    int64_t misses = 0;        // leases that allocated
    int64_t refused = 0;       // leases that there were not, for want of memory
    int64_t largest_lease_bytes = 0;
  };

  // used + cached bytes are at most `limit_bytes`, shared among the clients (SharedLimit). `source`
  // and `clock` must outlive the pool and its leases.
  MemoryPool(int64_t limit_bytes, MemorySource& source, const Clock& clock,
             double client_share = 1);
  ~MemoryPool();

  // RESOURCE_EXHAUSTED if `bytes` more would exceed the limit even with an empty cache, or exceed
  // the client's share, or if the source has no memory.
  absl::StatusOr<PooledBuffer> Acquire(size_t bytes, const Lessee& lessee = {});

  // Returns memory to the source that was unused for `age`: in each size class, everything above
  // the peak of leases during that time.
  void TrimIdle(absl::Duration age);

  Stats stats() const;

  // The bytes that a lease of `bytes` takes from the limit: at least 64; four size classes for each
  // power of two.
  static size_t SizeClass(size_t bytes);

 private:
  std::shared_ptr<PooledBuffer::Core> core_;
};

}  // namespace opserve
