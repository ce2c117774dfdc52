// Objects behind the numbers that programs hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace opserve::acl {

// The kinds of handles; each has its own numbers.
enum class HandleKind : uint8_t {
  kTensor = 1,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kExecutor,
  kContext,
  kStream,
  kEvent,
};

// A handle that this process never gave out: its kind, and a serial number that is never used
// again. No address looks like one, so that of something else is found out, too, and following one
// faults.
inline void* NewHandle(HandleKind kind) {
  static_assert(sizeof(void*) == sizeof(uint64_t));
  static std::atomic<uint64_t> next{1};
  const uint64_t handle =
      uint64_t{0x5A} << 56 | static_cast<uint64_t>(kind) << 52 | next.fetch_add(1);
  return reinterpret_cast<void*>(handle);  // NOLINT(performance-no-int-to-ptr)
}

// Thread-safe.
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind) : kind_(kind) {}

  void* Add(std::shared_ptr<T> object) {
    void* handle = NewHandle(kind_);
    MutexLock lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  // Null for anything but a handle of an object that is here.
  std::shared_ptr<T> Find(const void* handle) const {
    MutexLock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // Likewise; of several callers one gets the object.
  std::shared_ptr<T> Remove(const void* handle) {
    MutexLock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  std::vector<std::shared_ptr<T>> All() const {
    MutexLock lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (const auto& [handle, object] : objects_) all.push_back(object);
    return all;
  }

  int64_t size() const {
    MutexLock lock(mutex_);
    return static_cast<int64_t>(objects_.size());
  }

 private:
  const HandleKind kind_;
  mutable Mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::acl
