#include "server/transport/messages/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <grpc/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::server {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;
// zlib's own header or gzip's, whichever comes.
constexpr int kEitherHeader = 15 + 32;

// Says how a message came, which gRPC's C++ interface does not.
class CompressionOf : private grpc::ProtoBufferReader {
 public:
  // It reads only.
  explicit CompressionOf(const grpc::ByteBuffer& message)
      : ProtoBufferReader(const_cast<grpc::ByteBuffer*>(&message)) {}
  bool is_none() { return reader()->buffer_in->data.raw.compression == GRPC_COMPRESS_NONE; }
};

// zlib's state.
class Inflater {
 public:
  Inflater() { is_ready_ = ::inflateInit2(&stream_, kEitherHeader) == Z_OK; }
  ~Inflater() {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  absl::Status Add(const grpc::Slice& piece, size_t max_bytes) {
    stream_.next_in = const_cast<Bytef*>(piece.begin());
    stream_.avail_in = static_cast<uInt>(piece.size());
    while (is_ready_ && stream_.avail_in > 0 && !is_over_) {
      // One byte more than may be: so it is seen that there are more.
      block_.resize(std::min(kBlockBytes, max_bytes - bytes_ + 1));
      stream_.next_out = block_.data();
      stream_.avail_out = static_cast<uInt>(block_.size());
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END) return NotCompressed();
      const size_t made = block_.size() - stream_.avail_out;
      bytes_ += made;
      if (bytes_ > max_bytes) return TooLarge(max_bytes);
      if (made > 0) slices_.emplace_back(block_.data(), made);
      is_over_ = code == Z_STREAM_END;
    }
    return stream_.avail_in == 0 ? absl::OkStatus() : NotCompressed();
  }

  absl::Status Finish(grpc::ByteBuffer& message) {
    if (!is_over_) return NotCompressed();
    message = grpc::ByteBuffer(slices_.data(), slices_.size());
    return absl::OkStatus();
  }

 private:
  static absl::Status NotCompressed() {
    return MalformedMessage("bytes that gzip or deflate compressed, to their end", "others");
  }
  static absl::Status TooLarge(size_t max_bytes) {
    return MakeError(
        {.reason = ErrorReason::kResourceLimit,
         .op = {},
         .parameter = "--max-inflated-bytes",
         .want = absl::StrCat("compressed messages that inflate to at most ", max_bytes, " bytes"),
         .got = "one that has more"});
  }

  z_stream stream_ = {};
  bool is_ready_ = false;
  bool is_over_ = false;
  size_t bytes_ = 0;
  std::vector<Bytef> block_;
  std::vector<grpc::Slice> slices_;
};

}  // namespace

bool IsCompressed(const grpc::ByteBuffer& message) {
  return message.Valid() && !CompressionOf(message).is_none();
}

absl::Status Inflate(grpc::ByteBuffer& message, int64_t max_bytes) {
  if (!IsCompressed(message)) return absl::OkStatus();
  std::vector<grpc::Slice> pieces;
  // It cannot fail for a message that is there.
  [[maybe_unused]] const grpc::Status dumped = message.Dump(&pieces);
  Inflater inflater;
  for (const grpc::Slice& piece : pieces) {
    absl::Status status = inflater.Add(piece, static_cast<size_t>(max_bytes));
    if (!status.ok()) return status;
  }
  return inflater.Finish(message);
}

}  // namespace opserve::server
