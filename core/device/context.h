// What a client owns on a device: streams and memory, freed together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/device/device.h"
#include "core/device/memory_budget.h"
#include "core/device/stream.h"

namespace opserve {

// Untyped memory of a device, shared by its users and by the work on it, and freed with the last of
// them. `data` is an address of the device, which the host must not dereference.
class DeviceBuffer {
 public:
  // `owner` is the context's id.
  DeviceBuffer(Device& device, uint64_t owner, MemoryBudget::Share share, PooledBuffer memory)
      : device_(device), owner_(owner), share_(std::move(share)), memory_(std::move(memory)) {}

  Device& device() const { return device_; }
  // Context::id of the context that made it.
  uint64_t owner() const { return owner_; }
  // 64-byte aligned; nullptr for a buffer of 0 bytes.
  std::byte* data() const { return memory_.data(); }
  int64_t size_bytes() const { return static_cast<int64_t>(memory_.size()); }

 private:
  Device& device_;
  const uint64_t owner_;
  const MemoryBudget::Share share_;
  const PooledBuffer memory_;
};

// Thread-safe. The device and the clock must outlive the context and everything that it made.
class Context {
 public:
  // Memory and work are charged to `client`.
  Context(Device& device, std::shared_ptr<MemoryBudget> budget, const Clock& clock,
          ClientId client = ClientId::kNone);
  // Abandons the streams: waiting work is dropped; running work continues to its end and frees its
  // memory then.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device& device() const { return device_; }
  // Unique in this process, never used again, and not 0.
  uint64_t id() const { return id_; }
  ClientId client() const { return client_; }
  bool Owns(const DeviceBuffer& buffer) const { return buffer.owner() == id_; }
  // Whether the stream is one of this context, and was not destroyed.
  bool Owns(const Stream& stream) const;

  size_t num_streams() const;
  std::shared_ptr<Stream> CreateStream(Stream::OnFailure on_failure);
  // Drops the waiting commands of the stream. 161002 naming `stream` if it is another context's.
  absl::Status DestroyStream(const std::shared_ptr<Stream>& stream);

  // What a buffer holds at first.
  enum class Contents : uint8_t {
    kOwn,        // zeros, or what this context left there: the owner may read it at any time
    kUndefined,  // anything, other clients' bytes among it
  };

  // `bytes` >= 0. RESOURCE_EXHAUSTED if the budget (naming `parameter`) or the device does not have
  // so much.
  absl::StatusOr<std::shared_ptr<DeviceBuffer>> Allocate(int64_t bytes,
                                                         std::string_view parameter = "size_bytes",
                                                         Contents contents = Contents::kOwn);

  // Calls `done` once all work that is on the streams now has ended: with the failure of the oldest
  // stream that failed, if any did.
  void Synchronize(absl::AnyInvocable<void(Stream::Failure)> done);

  // Destroys all streams, as the destructor does: for callers that cannot wait until the last
  // reference to the context is gone.
  void Abandon();

 private:
  Device& device_;
  const uint64_t id_;
  const std::shared_ptr<MemoryBudget> budget_;
  const Clock& clock_;
  const ClientId client_;
  mutable Mutex mutex_;
  // By number, which is the order in which they were made.
  std::map<uint64_t, std::shared_ptr<Stream>> streams_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const Stream*, uint64_t> numbers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace opserve
