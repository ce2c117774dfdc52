// Sends device memory to the client, chunk by chunk, as fast as the session's flow allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/device/device.h"
#include "core/device/memory_range.h"
#include "server/session/ticket.h"

namespace opserve::server {

// Blocks no thread while it waits for room. It keeps itself alive while it has work.
class Pump : public std::enable_shared_from_this<Pump> {
 public:
  struct Source {
    std::string output;  // OutputChunk.output
    MemoryRange memory;
    std::shared_ptr<const void> owner;  // keeps the memory
  };

  // Sends each chunk as an answer of `ticket` before its last one. `done` is called once, on any
  // thread, with no lock held: with OK when the last byte was read from the device, else with the
  // failure. That is CANCELLED if the session is over, or what Ticket::CheckGoesOn returned.
  static void Start(Device& device, std::shared_ptr<MemoryPool> staging,
                    std::shared_ptr<Ticket> ticket, std::vector<Source> sources,
                    int64_t chunk_bytes, absl::AnyInvocable<void(absl::Status)> done);

 private:
  class Turn;

  Pump(Device& device, std::shared_ptr<MemoryPool> staging, std::shared_ptr<Ticket> ticket,
       std::vector<Source> sources, int64_t chunk_bytes,
       absl::AnyInvocable<void(absl::Status)> done);

  // Asks for room for the next chunk, or ends.
  void Proceed();
  void OnRoom(bool granted, int64_t bytes);
  absl::Status SendChunk(int64_t bytes);
  absl::StatusOr<PooledBuffer> FetchChunk(int64_t bytes);
  void End(absl::Status status);

  Device& device_;
  const std::shared_ptr<MemoryPool> staging_;
  const std::shared_ptr<Ticket> ticket_;
  const std::vector<Source> sources_;
  const int64_t chunk_bytes_;
  absl::AnyInvocable<void(absl::Status)> done_;
  // Touched by one turn at a time.
  size_t source_ = 0;
  int64_t offset_bytes_ = 0;
};

}  // namespace opserve::server
