// Which allocation an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "client/acl/provider/provider.h"
#include "core/base/mutex.h"

namespace opserve::acl {

struct DeviceAddress {
  MemoryView view;
  int device = 0;

  int64_t bytes_left() const { return view.memory->size_bytes() - view.offset_bytes; }
};

// Device memory by the addresses that programs know. Thread-safe.
class AddressMap {
 public:
  void Add(std::shared_ptr<ProvidedMemory> memory, int device);
  // False when no allocation starts there.
  bool Remove(const void* start);
  // The allocation around `address`, if there is one.
  std::optional<DeviceAddress> Find(const void* address) const;
  int64_t size() const;

 private:
  struct Entry {
    std::shared_ptr<ProvidedMemory> memory;
    int device = 0;
  };

  mutable Mutex mutex_;
  std::map<uintptr_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// Host memory of aclrtMallocHost. Thread-safe; what is left is freed with it.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  // 64-byte aligned; null when there is none. `bytes` > 0.
  void* Allocate(size_t bytes);
  // False when no allocation starts there.
  bool Free(void* start);
  // Whether one allocation holds all of [address, address + bytes).
  bool Holds(const void* address, size_t bytes) const;
  int64_t size() const;

 private:
  mutable Mutex mutex_;
  std::map<uintptr_t, size_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
