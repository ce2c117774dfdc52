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

// Fed by one thread at a time; the pieces run on the device's workers, in order.
class ChunkedCall {
 public:
  struct Limits {
    int64_t max_skew_bytes = 0;
    int64_t piece_bytes = 0;  // of the largest tensor
  };

  // What the client declared. `storages` are those of the inputs that came whole, `owner` keeps
  // their bytes; `share` is the memory that the call may hold while it waits.
  struct Declared {
    Plan plan;
    ChunkedInputs chunked;
    CallStorages storages;
    std::shared_ptr<const void> owner;
    std::vector<PooledBuffer> gathered;
    MemoryBudget::Share share;
    HostShare chunks;  // likewise of the host's memory
    HostShare memory;  // of the plan

    // Puts each whole input into one piece: every piece of the output reads all of it.
    absl::Status GatherWholeInputs();
  };

  // Of a plan of `engine`'s MakePiecewisePlan. Answers go through `ticket`, which it ends.
  ChunkedCall(Declared declared, const Limits& limits, std::shared_ptr<Ticket> ticket,
              Engine& engine, const Clock& clock);
  ChunkedCall(const ChunkedCall&) = delete;
  ChunkedCall& operator=(const ChunkedCall&) = delete;

  // The next bytes of `input`: the one entry of `raw`. An error has ended the call, now or earlier.
  absl::Status Feed(std::string_view input, absl::StatusOr<Fragments> bytes,
                    std::shared_ptr<const void> owner);
  // No more will come: an error when something is missing, which has ended the call.
  absl::Status EndOfInput();
  // Pieces that wait are dropped.
  void Abandon() { stream_->Abandon(); }
  // Ends it with CANCELLED, unless it has ended.
  void Cancel();

  // Every piece is on its way; they run to their end without this object.
  bool is_complete() const { return issued_ == total_; }

  // What such a call may have to hold: its whole inputs, and chunks that wait for others.
  static int64_t HeldBytes(const Declared& declared, int64_t max_skew_bytes);

 private:
  // What pieces use on the workers.
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
