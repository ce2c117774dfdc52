// Host memory that clients use: objects of sessions, waiting commands and uploads, requests that
// are not parsed yet, and answers that clients have not read yet. Device memory is not part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/base/client_id.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/shared_limit.h"
#include "core/device/memory_pool.h"

namespace opserve::server {

// A bound over all clients, of which each has a share. Thread-safe.
class HostMemory {
 public:
  HostMemory(int64_t limit_bytes, double client_share, const Clock& clock);

  // RESOURCE_EXHAUSTED naming `parameter`.
  absl::Status Take(ClientId client, int64_t bytes, std::string_view parameter);
  // Counts bytes that are here already, so it cannot refuse them. Negative: fewer again.
  void Add(ClientId client, int64_t bytes);
  void Return(ClientId client, int64_t bytes) { Add(client, -bytes); }
  // Another bound refused memory, such as a session's own.
  void NoteRefusal();
  // So many of the client's bytes wait for room (negative: fewer again).
  void NoteWaiting(ClientId client, int64_t bytes);
  // Whether the client may take more. What waits for that is left out: it must not keep itself
  // waiting.
  bool HasRoom(ClientId client) const;

  int64_t used_bytes() const;

  struct Stats {
    int64_t limit_bytes = 0;
    int64_t used_bytes = 0;
    int64_t refused = 0;  // how often a client was refused more
  };
  Stats stats() const;

  // The pool of chunks on their way to clients. It has no bound of its own: its users charge what
  // they lease to this object.
  const std::shared_ptr<MemoryPool>& staging() const { return staging_; }

 private:
  const std::shared_ptr<MemoryPool> staging_;
  mutable Mutex mutex_;
  SharedLimit bytes_ ABSL_GUARDED_BY(mutex_);
  SharedLimit waiting_ ABSL_GUARDED_BY(mutex_);  // counts only
  int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What one call has taken; the destructor returns it. Not thread-safe.
class HostCharge {
 public:
  enum class Of : uint8_t { kWork, kWaiting };  // kWaiting: for HostMemory::HasRoom
  explicit HostCharge(HostMemory& memory, Of of = Of::kWork) : memory_(memory), of_(of) {}
  ~HostCharge() { Clear(); }
  HostCharge(const HostCharge&) = delete;
  HostCharge& operator=(const HostCharge&) = delete;

  // Always for the same client. RESOURCE_EXHAUSTED naming `parameter`.
  absl::Status Add(ClientId client, int64_t bytes, std::string_view parameter);
  // As HostMemory's Add: cannot refuse them.
  void Note(ClientId client, int64_t bytes);
  void Clear();
  int64_t bytes() const { return bytes_; }

 private:
  void Took(ClientId client, int64_t bytes);

  HostMemory& memory_;
  const Of of_;
  ClientId client_ = ClientId::kNone;
  int64_t bytes_ = 0;
};

// One session's part of it, with a bound of its own. Thread-safe.
class SessionMemory {
 public:
  SessionMemory(std::shared_ptr<HostMemory> all, ClientId client, int64_t limit_bytes)
      : all_(std::move(all)), client_(client), limit_bytes_(limit_bytes) {}
  ~SessionMemory();
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  // For an object that the session keeps. RESOURCE_EXHAUSTED naming `parameter`.
  absl::Status Take(int64_t bytes, std::string_view parameter);
  void Return(int64_t bytes);

  // For what passes through, which has bounds of its own (Flow): is counted in steps, as that is
  // cheaper.
  void Note(int64_t bytes);
  bool HasRoom() const { return all_->HasRoom(client_); }

  ClientId client() const { return client_; }
  const std::shared_ptr<MemoryPool>& staging() const { return all_->staging(); }

 private:
  const std::shared_ptr<HostMemory> all_;
  const ClientId client_;
  const int64_t limit_bytes_;
  Mutex mutex_;
  int64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t passing_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t told_ ABSL_GUARDED_BY(mutex_) = 0;  // of what passes, what `all_` knows of
};

// Bytes of a session's memory that are its object's; returned with it.
class HostShare {
 public:
  HostShare() = default;
  HostShare(std::shared_ptr<SessionMemory> memory, int64_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}
  HostShare(HostShare&& other) noexcept = default;
  HostShare& operator=(HostShare&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostShare() {
    if (memory_ != nullptr) memory_->Return(bytes_);
  }

 private:
  std::shared_ptr<SessionMemory> memory_;
  int64_t bytes_ = 0;
};

}  // namespace opserve::server
