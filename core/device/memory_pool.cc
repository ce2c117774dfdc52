#include "core/device/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

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

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// malloc below a huge page; above it mappings of whole huge pages, so that the kernel can back them
// with some.
class HostMemory final : public MemorySource {
 public:
  std::byte* Allocate(size_t bytes) override {
    if (bytes < kHugePage) return static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
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

  bool is_host_memory() const override { return true; }
};

}  // namespace

MemorySource& MemorySource::Host() {
  static HostMemory memory;
  return memory;
}

// Shared by the pool and its leases, so that a lease may end after the pool.
struct PooledBuffer::Core {
  struct Cached {
    std::byte* data;
    absl::Time since;
  };

  Core(int64_t limit_bytes, MemorySource& memory, const Clock& time)
      : limit(limit_bytes), source(memory), clock(time) {}

  ~Core() {
    MutexLock lock(mutex);
    FreeCached(absl::InfiniteFuture());
  }

  // A warm buffer of the class, or nullptr; makes room for a new one of that class otherwise. False
  // when there is no room.
  bool Reserve(size_t size_class, size_t size, std::byte** warm) {
    MutexLock lock(mutex);
    const auto bytes = static_cast<int64_t>(size_class);
    const auto found = cached.find(size_class);
    if (found != cached.end()) {
      *warm = found->second.back().data;
      found->second.pop_back();
      if (found->second.empty()) cached.erase(found);
      stats.cached_bytes -= bytes;
      ++stats.hits;
    } else {
      if (bytes > limit - stats.used_bytes) return false;
      while (bytes > limit - stats.used_bytes - stats.cached_bytes) EvictLargest();
      ++stats.misses;
    }
    stats.used_bytes += bytes;
    stats.largest_lease_bytes = std::max(stats.largest_lease_bytes, static_cast<int64_t>(size));
    return true;
  }

  void Unreserve(size_t size_class) {
    MutexLock lock(mutex);
    stats.used_bytes -= static_cast<int64_t>(size_class);
  }

  void Return(std::byte* data, size_t size_class) {
    Poison(data, size_class);
    MutexLock lock(mutex);
    cached[size_class].push_back({data, clock.Now()});
    stats.used_bytes -= static_cast<int64_t>(size_class);
    stats.cached_bytes += static_cast<int64_t>(size_class);
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

  const int64_t limit;
  MemorySource& source;
  const Clock& clock;
  mutable Mutex mutex;
  std::map<size_t, std::vector<Cached>> cached ABSL_GUARDED_BY(mutex);
  MemoryPool::Stats stats ABSL_GUARDED_BY(mutex);
};

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  if (this == &other) return *this;
  Release();
  core_ = std::move(other.core_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void PooledBuffer::Release() {
  if (data_ != nullptr) core_->Return(data_, MemoryPool::SizeClass(size_));
  data_ = nullptr;
  size_ = 0;
  core_.reset();
}

MemoryPool::MemoryPool(int64_t limit_bytes, MemorySource& source, const Clock& clock)
    : core_(std::make_shared<PooledBuffer::Core>(limit_bytes, source, clock)) {}

MemoryPool::~MemoryPool() = default;

size_t MemoryPool::SizeClass(size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const size_t step = std::max(std::bit_floor(bytes - 1) / 4, kAlignment);
  return (bytes + step - 1) / step * step;
}

absl::StatusOr<PooledBuffer> MemoryPool::Acquire(size_t bytes) {
  PooledBuffer buffer;
  if (bytes == 0) return buffer;
  const auto refuse = [this, bytes](std::string_view who) {
    const Stats now = stats();
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = std::string(who),
                      .want = absl::StrCat("at most ", now.limit_bytes, " bytes in use"),
                      .got = absl::StrCat(bytes, " bytes more with ", now.used_bytes, " in use")});
  };
  if (bytes > static_cast<size_t>(core_->limit)) return refuse("memory limit");
  const size_t size_class = SizeClass(bytes);
  std::byte* data = nullptr;
  if (!core_->Reserve(size_class, bytes, &data)) return refuse("memory limit");
  if (data == nullptr) data = core_->source.Allocate(size_class);
  if (data == nullptr) {
    core_->Unreserve(size_class);
    return refuse("device memory");
  }
  core_->Poison(data, size_class);
  core_->Unpoison(data, bytes);
  buffer.core_ = core_;
  buffer.data_ = data;
  buffer.size_ = bytes;
  return buffer;
}

void MemoryPool::TrimIdle(absl::Duration age) {
  MutexLock lock(core_->mutex);
  core_->FreeCached(core_->clock.Now() - age);
}

MemoryPool::Stats MemoryPool::stats() const {
  MutexLock lock(core_->mutex);
  Stats stats = core_->stats;
  stats.limit_bytes = core_->limit;
  return stats;
}

}  // namespace opserve
