#include "server/transport/messages/raw_message.h"

#include <span>
#include <utility>

#include <grpcpp/support/proto_buffer_reader.h>

#include "core/base/status_macros.h"
#include "server/codec/message_scanner.h"
#include "server/transport/messages/inflate.h"

namespace opserve::server {
namespace {

constexpr uint32_t kNoBulk = 0;  // no field has this number

grpc::Slice LeaseAsSlice(PooledBuffer buffer) {
  auto* lease = new PooledBuffer(std::move(buffer));
  return grpc::Slice(
      lease->data(), lease->size(), [](void* held) { delete static_cast<PooledBuffer*>(held); },
      lease);
}

// No slices for an empty message, which may have no buffer either.
std::vector<grpc::Slice> SlicesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  // Dump fails only for compressed bytes that are corrupt; gRPC refuses those before a handler sees
  // them.
  if (buffer.Valid() && !buffer.Dump(&slices).ok()) slices.clear();
  return slices;
}

// Counts no further than it must.
bool HasManySlices(const grpc::ByteBuffer& buffer) {
  if (buffer.Length() <= kReadHereSlices) return false;
  // It reads; a copy would have as many slices.
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&buffer));
  const void* data = nullptr;
  int bytes = 0;
  size_t count = 0;
  while (count <= kReadHereSlices && reader.Next(&data, &bytes)) ++count;
  return count > kReadHereSlices;
}

absl::StatusOr<ScannedMessage> Scan(const std::vector<grpc::Slice>& slices, uint32_t bulk_field,
                                    size_t max_entries, size_t max_header_bytes = kMaxHeaderBytes) {
  std::vector<std::span<const std::byte>> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices)
    pieces.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
  return ScanMessage(pieces, bulk_field,
                     {.max_header_bytes = max_header_bytes, .max_bulk_entries = max_entries});
}

}  // namespace

absl::StatusOr<SplitMessage> ReadSplitMessage(const grpc::ByteBuffer& buffer, uint32_t raw_field,
                                              size_t max_raw_entries) {
  SplitMessage split;
  split.slices = SlicesOf(buffer);
  OPSERVE_ASSIGN_OR_RETURN(ScannedMessage scanned, Scan(split.slices, raw_field, max_raw_entries));
  split.header = std::move(scanned.header);
  split.raw = std::move(scanned.bulk);
  return split;
}

std::shared_ptr<const void> KeepSlices(std::vector<grpc::Slice> slices) {
  return std::make_shared<const std::vector<grpc::Slice>>(std::move(slices));
}

bool TakesLongToRead(const grpc::ByteBuffer& buffer, uint32_t raw_field, size_t max_raw_entries) {
  if (IsCompressed(buffer)) return true;
  if (!buffer.Valid() || buffer.Length() <= kReadHereHeaderBytes) return false;
  if (HasManySlices(buffer)) return true;
  const absl::StatusOr<ScannedMessage> scanned =
      Scan(SlicesOf(buffer), raw_field, max_raw_entries, kReadHereHeaderBytes);
  return scanned.status().code() == absl::StatusCode::kResourceExhausted;
}

absl::Status ReadMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message) {
  OPSERVE_ASSIGN_OR_RETURN(const SplitMessage split, ReadSplitMessage(buffer, kNoBulk, 0));
  return ParseHeader(split.header, message);
}

grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message) {
  return ToByteBuffer({.begin = message.SerializeAsString(), .entries = {}});
}

grpc::ByteBuffer ToByteBuffer(WrittenMessage message) {
  std::vector<grpc::Slice> slices;
  slices.reserve(1 + 2 * message.entries.size());
  slices.emplace_back(message.begin);
  for (WrittenMessage::Entry& entry : message.entries) {
    slices.push_back(LeaseAsSlice(std::move(entry.bytes)));
    if (!entry.after.empty()) slices.emplace_back(entry.after);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace opserve::server
