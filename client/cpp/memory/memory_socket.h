// The client's end of the server's shared-memory socket (proto/opserve/v1/shared_memory.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/values/shared_region.h"
#include "core/base/unique_fd.h"

namespace opserve::client {

// A connection, and what is asked for on it. Not thread-safe.
class MemorySocket {
 public:
  explicit MemorySocket(std::string_view path) : path_(path) {}

  // Once. UNAVAILABLE where nobody serves or may be spoken to, DEADLINE_EXCEEDED.
  absl::Status Connect(absl::Time deadline);

  // Zeros, mapped. The region keeps the connection open. Errors: the server's; DEADLINE_EXCEEDED
  // (memory that comes later goes back); UNAVAILABLE, and INTERNAL for memory that the server could
  // take away: with one of these two the connection is of no use any more.
  absl::StatusOr<std::shared_ptr<SharedRegion>> Allocate(int64_t size_bytes, absl::Time deadline);

  // Asks the server to release a region of this connection; does not wait. False when the
  // connection is of no use any more.
  bool Release(const std::string& id);

 private:
  enum class Wait : uint8_t { kNo, kForAnswer };

  absl::Status BePatient(absl::Time deadline);
  absl::Status Send(const std::string& bytes);
  // A packet into `bytes`, and all files that came with it.
  absl::Status Receive(Wait wait, std::string& bytes, std::vector<UniqueFd>& files);
  // The answers that nobody waits for: to Release, and to Allocate that came too late.
  absl::Status ReadUnread(Wait wait);
  bool SendRelease(const std::string& id);
  absl::Status TooLate() const;
  absl::Status Failed(const char* what) const;

  const std::string path_;
  std::shared_ptr<const UniqueFd> fd_;
  // Of each answer that nobody waits for the bytes of its region; 0: of a Release.
  std::deque<int64_t> unread_;
};

}  // namespace opserve::client
