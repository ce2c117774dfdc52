#include "core/device/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/alignment.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/shared_limit.h"
#include "core/base/status_macros.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#endif

namespace opserve {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargest = size_t{1} << 60;  // whose class fits int64

// malloc below a huge page; above it mappings of whole huge pages, so that the kernel can back them
// with some.
class HostMemory final : public MemorySource {
 public:
  std::byte* Allocate(size_t bytes) override {
    if (bytes < kHugePage)
      return static_cast<std::byte*>(std::aligned_alloc(kDeviceAlignment, bytes));
    // One huge page more than needed; the ends beyond an aligned range are given back.
    const size_t mapped = bytes + kHugePage;
    void* start =
        ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    auto* first = static_cast<std::byte*>(start);
    const auto address = reinterpret_cast<uintptr_t>(first);
    const size_t before = (kHugePage - address % kHugePage) % kHugePage;
    std::byte* data = first + before;
    if (before > 0) ::munmap(first, before);
    ::munmap(data + bytes, mapped - before - bytes);
    ::madvise(data, bytes, MADV_HUGEPAGE);
    return data;
  }

  void Free(std::byte* data, size_t bytes) override {
    if (bytes < kHugePage) {
      std::free(data);
    } else {
      ::munmap(data, bytes);
    }
  }

  absl::Status Clear(std::byte* data, size_t bytes) override {
    // Mapped memory is taken back by the kernel, which gives zeros where it is touched: so the
    // thread that clears a large block need not wait for that.
    if (bytes < kHugePage || ::madvise(data, bytes, MADV_DONTNEED) != 0)
      std::memset(data, 0, bytes);
    return absl::OkStatus();
  }

  bool allocates_zeros(size_t bytes) const override { return bytes >= kHugePage; }
  bool is_host_memory() const override { return true; }
};

}  // namespace

MemorySource& MemorySource::Host() {
  // Never destroyed: gRPC may let go of answers while the process ends.
  static MemorySource& memory = *new HostMemory;
  return memory;
}

// Shared by the pool and its leases, so that a lease may end after the pool.
struct PooledBuffer::Core {
  struct Cached {
    std::byte* data;
    absl::Time since;
    uint64_t reader;  // of the lease before; 0 = none
  };

  Core(int64_t limit_bytes, double client_share, MemorySource& memory, const Clock& time)
      : source(memory), clock(time), used(limit_bytes, client_share) {}

  ~Core() {
    MutexLock lock(mutex);
    FreeCached(absl::InfiniteFuture());
  }

  // Books a buffer of the class. `warm` is a used one, or makes room for a new one when there is
  // none.
  SharedLimit::Verdict Reserve(size_t size_class, size_t size, ClientId client, Cached& warm) {
    MutexLock lock(mutex);
    const auto bytes = static_cast<int64_t>(size_class);
    const SharedLimit::Verdict verdict = used.Take(client, bytes);
    if (verdict != SharedLimit::Verdict::kGranted) return verdict;
    const auto found = cached.find(size_class);
    if (found != cached.end()) {
      warm = found->second.back();
      found->second.pop_back();
      if (found->second.empty()) cached.erase(found);
      stats.cached_bytes -= bytes;
      ++stats.hits;
    } else {
      while (used.used() > used.limit() - stats.cached_bytes) EvictLargest();
      ++stats.misses;
    }
    stats.largest_lease_bytes = std::max(stats.largest_lease_bytes, static_cast<int64_t>(size));
    return verdict;
  }

  // The system had no memory for it.
  void Unreserve(size_t size_class, ClientId client) {
    MutexLock lock(mutex);
    used.Return(client, static_cast<int64_t>(size_class));
    ++stats.refused;
  }

  void Return(std::byte* data, size_t size_class, const Lessee& lessee) {
    Poison(data, size_class);
    const absl::Time now = clock.Now();
    MutexLock lock(mutex);
    cached[size_class].push_back({data, now, lessee.reader});
    used.Return(lessee.client, static_cast<int64_t>(size_class));
    stats.cached_bytes += static_cast<int64_t>(size_class);
  }

  // Why there is no lease.
  absl::Status Refuse(size_t bytes, SharedLimit::Verdict verdict, ClientId client) {
    MutexLock lock(mutex);
    ++stats.refused;
    const bool share = verdict == SharedLimit::Verdict::kShare;
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "memory limit",
                      .want = share ? absl::StrCat("at most ", used.MostOf(client),
                                                   " bytes in use by one client (client_share)")
                                    : absl::StrCat("at most ", used.limit(), " bytes in use"),
                      .got = absl::StrCat(bytes, " bytes more with ",
                                          share ? used.used_by(client) : used.used(), " in use")});
  }

  void Poison(std::byte* data, size_t bytes) const {
    if (source.is_host_memory()) ASAN_POISON_MEMORY_REGION(data, bytes);
  }
  void Unpoison(std::byte* data, size_t bytes) const {
    if (source.is_host_memory()) ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  }

  // What has been cached since before `before`.
  void FreeCached(absl::Time before) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    for (auto entry = cached.begin(); entry != cached.end();) {
      auto& [size_class, buffers] = *entry;
      // Leases take from the back, so the front has lain longest.
      size_t old = 0;
      while (old < buffers.size() && buffers[old].since < before)
        FreeOne(buffers[old++].data, size_class);
      buffers.erase(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(old));
      entry = buffers.empty() ? cached.erase(entry) : std::next(entry);
    }
  }

  void EvictLargest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const auto largest = std::prev(cached.end());
    FreeOne(largest->second.front().data, largest->first);
    largest->second.erase(largest->second.begin());
    if (largest->second.empty()) cached.erase(largest);
  }

  void FreeOne(std::byte* data, size_t size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Unpoison(data, size_class);
    source.Free(data, size_class);
    stats.cached_bytes -= static_cast<int64_t>(size_class);
  }

  MemorySource& source;
  const Clock& clock;
  mutable Mutex mutex;
  SharedLimit used ABSL_GUARDED_BY(mutex);
  std::map<size_t, std::vector<Cached>> cached ABSL_GUARDED_BY(mutex);
  MemoryPool::Stats stats ABSL_GUARDED_BY(mutex);
};

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  if (this == &other) return *this;
  Release();
  core_ = std::move(other.core_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  lessee_ = other.lessee_;
  return *this;
}

void PooledBuffer::Release() {
  if (data_ != nullptr) core_->Return(data_, MemoryPool::SizeClass(size_), lessee_);
  data_ = nullptr;
  size_ = 0;
  core_.reset();
}

MemoryPool::MemoryPool(int64_t limit_bytes, MemorySource& source, const Clock& clock,
                       double client_share)
    : core_(std::make_shared<PooledBuffer::Core>(limit_bytes, client_share, source, clock)) {}

MemoryPool::~MemoryPool() = default;

size_t MemoryPool::SizeClass(size_t bytes) {
  if (bytes <= kDeviceAlignment) return kDeviceAlignment;
  const size_t step = std::max(std::bit_floor(bytes - 1) / 4, kDeviceAlignment);
  return (bytes + step - 1) / step * step;
}

absl::StatusOr<PooledBuffer> MemoryPool::Acquire(size_t bytes, const Lessee& lessee) {
  PooledBuffer buffer;
  if (bytes == 0) return buffer;
  if (bytes > kLargest) return core_->Refuse(bytes, SharedLimit::Verdict::kFull, lessee.client);
  const size_t size_class = SizeClass(bytes);
  PooledBuffer::Core::Cached memory = {};
  const SharedLimit::Verdict verdict = core_->Reserve(size_class, bytes, lessee.client, memory);
  if (verdict != SharedLimit::Verdict::kGranted)
    return core_->Refuse(bytes, verdict, lessee.client);
  bool is_clear = lessee.reader == 0 || lessee.reader == memory.reader;
  if (memory.data == nullptr) {
    memory.data = core_->source.Allocate(size_class);
    is_clear = is_clear || core_->source.allocates_zeros(size_class);
  }
  if (memory.data == nullptr) {
    core_->Unreserve(size_class, lessee.client);
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "device memory",
                      .want = absl::StrCat(bytes, " bytes that the system has"),
                      .got = "none"});
  }
  buffer.core_ = core_;
  buffer.data_ = memory.data;
  buffer.size_ = bytes;
  // What could not be cleared is no reader's.
  buffer.lessee_ = {.client = lessee.client};
  core_->Unpoison(memory.data, size_class);
  // All of it: the next lease of the same reader may be larger.
  if (!is_clear) OPSERVE_RETURN_IF_ERROR(core_->source.Clear(memory.data, size_class));
  buffer.lessee_ = lessee;
  core_->Poison(memory.data, size_class);
  core_->Unpoison(memory.data, bytes);
  return buffer;
}

void MemoryPool::TrimIdle(absl::Duration age) {
  MutexLock lock(core_->mutex);
  core_->FreeCached(core_->clock.Now() - age);
}

MemoryPool::Stats MemoryPool::stats() const {
  MutexLock lock(core_->mutex);
  Stats stats = core_->stats;
  stats.limit_bytes = core_->used.limit();
  stats.used_bytes = core_->used.used();
  return stats;
}

}  // namespace opserve
