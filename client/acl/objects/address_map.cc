#include "client/acl/objects/address_map.h"
#include "core/base/alignment.h"

#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

namespace opserve::acl {
namespace {

uintptr_t Number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// The entry that starts at or before `address`; end() when there is none.
template <typename Map>
typename Map::const_iterator Before(const Map& map, uintptr_t address) {
  const auto after = map.upper_bound(address);
  return after == map.begin() ? map.end() : std::prev(after);
}

}  // namespace

void AddressMap::Add(std::shared_ptr<ProvidedMemory> memory, int device) {
  const uintptr_t start = Number(memory->address());
  MutexLock lock(mutex_);
  entries_.insert_or_assign(start, Entry{std::move(memory), device});
}

bool AddressMap::Remove(const void* start) {
  std::shared_ptr<ProvidedMemory> memory;  // freed when the lock is
  MutexLock lock(mutex_);
  const auto found = entries_.find(Number(start));
  if (found == entries_.end()) return false;
  memory = std::move(found->second.memory);
  entries_.erase(found);
  return true;
}

std::optional<DeviceAddress> AddressMap::Find(const void* address) const {
  MutexLock lock(mutex_);
  const auto found = Before(entries_, Number(address));
  if (found == entries_.end()) return std::nullopt;
  const auto offset = static_cast<int64_t>(Number(address) - found->first);
  const auto& [memory, device] = found->second;
  if (offset < 0 || offset >= memory->size_bytes()) return std::nullopt;
  return DeviceAddress{.view = {memory, offset}, .device = device};
}

int64_t AddressMap::size() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(entries_.size());
}

HostMemory::~HostMemory() {
  for (const auto& [start, size] : sizes_)
    std::free(reinterpret_cast<void*>(start));  // NOLINT(performance-no-int-to-ptr)
}

void* HostMemory::Allocate(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() - kDeviceAlignment) return nullptr;
  void* start = std::aligned_alloc(kDeviceAlignment, RoundUpToAlignment(bytes));
  if (start == nullptr) return nullptr;
  MutexLock lock(mutex_);
  sizes_[Number(start)] = bytes;
  return start;
}

bool HostMemory::Free(void* start) {
  {
    MutexLock lock(mutex_);
    if (sizes_.erase(Number(start)) == 0) return false;
  }
  std::free(start);
  return true;
}

bool HostMemory::Holds(const void* address, size_t bytes) const {
  MutexLock lock(mutex_);
  const auto found = Before(sizes_, Number(address));
  if (found == sizes_.end()) return false;
  const size_t offset = Number(address) - found->first;
  return offset <= found->second && bytes <= found->second - offset;
}

int64_t HostMemory::size() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(sizes_.size());
}

}  // namespace opserve::acl
