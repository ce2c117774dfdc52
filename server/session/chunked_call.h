// An ExecuteChunkedCommand: an element-wise call that runs piece by piece while its inputs arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/clock.h"
#include "core/base/fragments.h"
#include "core/device/memory_budget.h"
#include "core/device/memory_pool.h"
#include "core/device/stream.h"
#include "core/engine/engine.h"
#include "server/codec/call_codec.h"
#include "server/session/ticket.h"

namespace opserve::server {

// Bytes of one message, and what keeps them.
struct OwnedBytes {
  Fragments bytes;
  std::shared_ptr<const void> owner;
};

// Which inputs come in chunks, in schema order.
using ChunkedInputs = absl::InlinedVector<bool, 4>;

// One thread at a time may call it. The pieces run on the device's workers, in order.
class ChunkedCall {
 public:
  struct Limits {
    int64_t max_skew_bytes = 0;
    int64_t piece_bytes = 0;  // of the largest tensor
  };

  // What the client declared. `storages` are those of the inputs that came whole, and `owner` keeps
  // their bytes. `share` is the device memory that the call may hold while it waits for chunks.
  struct Declared {
    Plan plan;
    ChunkedInputs chunked;
    CallStorages storages;
    std::shared_ptr<const void> owner;
    std::vector<PooledBuffer> gathered;
    MemoryBudget::Share share;
    HostShare chunks;  // likewise of the host's memory
    HostShare memory;  // of the plan

    // Makes each whole input contiguous and aligned, because every piece of the output reads all of
    // it. Memory is charged to `client`.
    absl::Status GatherWholeInputs(ClientId client);
  };

  // `declared.plan` is of Engine::MakePiecewisePlan. Answers go through `ticket`, which this ends.
  ChunkedCall(Declared declared, const Limits& limits, std::shared_ptr<Ticket> ticket,
              Engine& engine, const Clock& clock);
  ChunkedCall(const ChunkedCall&) = delete;
  ChunkedCall& operator=(const ChunkedCall&) = delete;

  // Takes the next bytes of `input`. After an error the call has ended, now or earlier.
  absl::Status Feed(std::string_view input, absl::StatusOr<Fragments> bytes,
                    std::shared_ptr<const void> owner);
  // The client sends no more. If bytes are missing, the call ends with the error that this returns.
  absl::Status EndOfInput();
  // Drops the pieces that have not begun.
  void Abandon() { stream_->Abandon(); }
  // Ends the call with CANCELLED, unless it has ended.
  void Cancel();

  // Whether every piece was handed to the workers. They need this object no longer.
  bool is_complete() const { return issued_ == total_; }

  // The most bytes that such a call holds: its whole inputs, and chunks that wait for other inputs.
  static int64_t HeldBytes(const Declared& declared, int64_t max_skew_bytes);

 private:
  // What the pieces use on the workers; they share it.
  struct Shared {
    Engine& engine;
    Plan plan;
    ChunkedInputs chunked;
    CallStorages storages;
    std::shared_ptr<const void> owner;
    MemoryBudget::Share share;
    HostShare chunks;
    HostShare memory;
    std::vector<PooledBuffer> gathered;  // what `storages` point to, some of them
    std::shared_ptr<Ticket> ticket;
  };
  struct Input {
    void Append(OwnedBytes bytes);

    std::deque<OwnedBytes> waiting;
    int64_t received = 0;                           // elements
    std::shared_ptr<std::vector<std::byte>> block;  // of small chunks, side by side
  };
  struct Piece;

  absl::Status CheckGoesOn() const;
  absl::Status Accept(std::string_view input, OwnedBytes bytes);
  absl::Status CheckChunk(size_t input, int64_t bytes) const;
  int64_t Arrived() const;
  void IssuePieces();
  void IssuePiece(int64_t count);
  void IssueEnd();
  absl::Status Fail(absl::Status status);
  size_t ElementBytes(size_t input) const;

  const std::shared_ptr<Shared> shared_;
  const Limits limits_;
  const std::shared_ptr<Stream> stream_;
  const int64_t total_;  // elements of the output
  int64_t piece_elements_ = 1;
  std::vector<Input> inputs_;  // in schema order
  int64_t issued_ = 0;         // elements
};

}  // namespace opserve::server
