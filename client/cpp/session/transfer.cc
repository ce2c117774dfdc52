#include "client/cpp/session/transfer.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

// What a message needs beside a chunk's bytes, at most.
constexpr int64_t kHeaderBytes = 1024;

// Whatever the server recommends: several chunks are held at a time.
constexpr int64_t kMaxChunkBytes = int64_t{4} << 20;

// The rows of a sound description that is not empty, from the first element on.
std::optional<Rows> CollapseDims(const TensorDesc& desc) {
  const auto element_bytes = static_cast<int64_t>(DTypeSize(desc.dtype));
  Rows rows{.offset_bytes = desc.storage_offset * element_bytes, .row_bytes = element_bytes};
  for (size_t i = desc.shape.size(); i-- > 0;) {
    if (desc.shape[i] == 1) continue;
    const int64_t stride_bytes = desc.strides[i] * element_bytes;
    if (rows.rows == 1 && stride_bytes == rows.row_bytes) {
      rows.row_bytes *= desc.shape[i];
    } else if (rows.rows == 1 && stride_bytes > rows.row_bytes) {
      rows.rows = desc.shape[i];
      rows.stride_bytes = stride_bytes;
    } else if (rows.rows > 1 && stride_bytes == rows.rows * rows.stride_bytes) {
      rows.rows *= desc.shape[i];
    } else {
      return std::nullopt;
    }
  }
  return rows;
}

}  // namespace

absl::StatusOr<Rows> RowsOf(const DeviceTensor& tensor, std::string_view parameter) {
  OPSERVE_RETURN_IF_ERROR(CheckDesc(tensor.desc, parameter));
  if (tensor.desc.num_elements() == 0) return Rows{.offset_bytes = tensor.offset_bytes};
  std::optional<Rows> rows = CollapseDims(tensor.desc);
  if (!rows.has_value()) {
    return InvalidParameter(parameter, "a dense tensor, or evenly spaced rows",
                            absl::StrCat("shape ", ShapeToString(tensor.desc.shape),
                                         " with strides ", ShapeToString(tensor.desc.strides)));
  }
  if (tensor.offset_bytes < 0 ||
      __builtin_add_overflow(tensor.offset_bytes, rows->offset_bytes, &rows->offset_bytes)) {
    return InvalidParameter(parameter, "an offset in bytes >= 0 that fits int64",
                            absl::StrCat(tensor.offset_bytes));
  }
  return *rows;
}

void ForEachPiece(const Rows& rows, int64_t chunk_bytes,
                  const std::function<bool(const Rows& piece, int64_t offset_bytes)>& send) {
  if (rows.size_bytes() == 0) return;
  const int64_t rows_at_once = std::max<int64_t>(1, chunk_bytes / rows.row_bytes);
  const int64_t bytes_of_row = std::min(rows.row_bytes, chunk_bytes);
  for (int64_t row = 0; row < rows.rows; row += rows_at_once) {
    for (int64_t column = 0; column < rows.row_bytes; column += bytes_of_row) {
      const Rows piece{.offset_bytes = rows.offset_bytes + row * rows.stride_bytes + column,
                       .row_bytes = std::min(bytes_of_row, rows.row_bytes - column),
                       .rows = std::min(rows_at_once, rows.rows - row),
                       .stride_bytes = rows.stride_bytes};
      if (!send(piece, row * rows.row_bytes + column)) return;
    }
  }
}

void FillRange(const DeviceTensor& tensor, const Rows& rows, v1::BufferRange& range) {
  range.set_buffer(tensor.buffer.object() == nullptr ? 0 : tensor.buffer.object()->id());
  range.set_offset_bytes(rows.offset_bytes);
  range.set_row_bytes(rows.row_bytes);
  if (rows.rows == 1) return;
  range.set_rows(rows.rows);
  range.set_stride_bytes(rows.stride_bytes);
}

void FillBufferView(const DeviceTensor& tensor, v1::BufferView& view) {
  view.set_buffer(tensor.buffer.object() == nullptr ? 0 : tensor.buffer.object()->id());
  view.set_offset_bytes(tensor.offset_bytes);
}

int64_t ChunkBytes(const SessionInfo& info) {
  const int64_t most = std::max(info.max_message_bytes - kHeaderBytes, info.max_message_bytes / 2);
  return std::max<int64_t>(1, std::min({info.recommended_chunk_bytes, most, kMaxChunkBytes}));
}

absl::Status Inflow::Check(const SessionAnswer& chunk) const {
  if (chunk.raw.size() != 1) {
    return BadAnswer("OutputChunk", "bytes", "one entry",
                     absl::StrCat(chunk.raw.size(), " entries"));
  }
  const int64_t offset = chunk.message.chunk().offset_bytes();
  if (offset != received_bytes_) {
    return BadAnswer("OutputChunk", "offset_bytes", absl::StrCat(received_bytes_, ", in order"),
                     absl::StrCat(offset));
  }
  const auto bytes = static_cast<int64_t>(chunk.raw[0].size_bytes());
  const int64_t left = size_bytes_ - received_bytes_;
  if (bytes > 0 && bytes <= left) return absl::OkStatus();
  return BadAnswer("OutputChunk", "bytes", absl::StrCat("1 to ", left, " more"),
                   absl::StrCat(bytes));
}

absl::Status Inflow::Accept(SessionAnswer& chunk) {
  chunk.objection = Check(chunk);
  if (!chunk.objection.ok()) return chunk.objection;
  received_bytes_ += static_cast<int64_t>(chunk.raw[0].size_bytes());
  return absl::OkStatus();
}

absl::Status Inflow::HandOn(const SessionAnswer& chunk, const Take& take) {
  int64_t offset = chunk.message.chunk().offset_bytes();
  for (const std::span<const std::byte> piece : chunk.raw[0].pieces()) {
    OPSERVE_RETURN_IF_ERROR(take(offset, piece));
    offset += static_cast<int64_t>(piece.size());
  }
  return absl::OkStatus();
}

absl::Status Inflow::CheckComplete() const {
  if (received_bytes_ == size_bytes_) return absl::OkStatus();
  return BadAnswer("OutputChunk", "bytes", absl::StrCat(size_bytes_, " in all"),
                   absl::StrCat(received_bytes_));
}

}  // namespace opserve::client
