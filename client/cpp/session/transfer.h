// Bytes of tensors on their way to and from the buffers of a session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <opserve/device_tensor.h>
#include <opserve/session_info.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/wire/session_answer.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// A tensor as evenly spaced rows of bytes, in the order of its elements. An empty one has no bytes.
struct Rows {
  int64_t offset_bytes = 0;  // of the first, in the buffer
  int64_t row_bytes = 0;
  int64_t rows = 1;
  int64_t stride_bytes = 0;  // between starts; of no meaning when there is one row

  int64_t size_bytes() const { return row_bytes * rows; }
};

// 161002, naming `parameter`, for a bad description and for a layout that is no evenly spaced rows.
absl::StatusOr<Rows> RowsOf(const DeviceTensor& tensor, std::string_view parameter);

// `rows` in pieces of at most `chunk_bytes`: send(piece, where its bytes begin among all) until it
// returns false. Empty rows have no piece.
void ForEachPiece(const Rows& rows, int64_t chunk_bytes,
                  const std::function<bool(const Rows& piece, int64_t offset_bytes)>& send);

void FillRange(const DeviceTensor& tensor, const Rows& rows, v1::BufferRange& range);

// Where a tensor's storage is; nothing for a tensor without a buffer.
void FillBufferView(const DeviceTensor& tensor, v1::BufferView& view);

// Bytes of one chunk of a transfer to the server.
int64_t ChunkBytes(const SessionInfo& info);

// The chunks of one transfer from the server, as they come: checks that they are in order.
class Inflow {
 public:
  using Take = std::function<absl::Status(int64_t offset_bytes, std::span<const std::byte> bytes)>;

  explicit Inflow(int64_t size_bytes) : size_bytes_(size_bytes) {}

  // INTERNAL for a chunk that does not belong here; `chunk` gets it as its objection.
  absl::Status Accept(SessionAnswer& chunk);
  // Hands the bytes of an accepted chunk on, piece by piece.
  static absl::Status HandOn(const SessionAnswer& chunk, const Take& take);
  // INTERNAL when bytes are missing.
  absl::Status CheckComplete() const;

 private:
  absl::Status Check(const SessionAnswer& chunk) const;

  const int64_t size_bytes_;
  int64_t received_bytes_ = 0;
};

}  // namespace opserve::client
