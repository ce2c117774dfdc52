#include "server/wire/raw_message.h"

#include <string>
#include <utility>

#include <grpcpp/support/proto_buffer_reader.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message_lite.h"
#include "server/wire/message_scanner.h"
#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

using google::protobuf::io::CodedOutputStream;

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
  if (buffer.Length() <= kInlineSlices) return false;
  // It reads; a copy would have as many slices.
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&buffer));
  const void* data = nullptr;
  int bytes = 0;
  size_t count = 0;
  while (count <= kInlineSlices && reader.Next(&data, &bytes)) ++count;
  return count > kInlineSlices;
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

absl::Status NotAMessage(std::string_view type) {
  std::string want("an ");
  want.append(type);
  return InvalidParameter("message", want, "malformed fields or names that are not UTF-8");
}

absl::Status ParseHeader(const std::string& header, google::protobuf::MessageLite& message) {
  return message.ParseFromString(header) ? absl::OkStatus() : NotAMessage(message.GetTypeName());
}

absl::StatusOr<SplitMessage> ReadSplitMessage(const grpc::ByteBuffer& buffer, uint32_t raw_field,
                                              size_t max_raw_entries) {
  SplitMessage split;
  split.slices = SlicesOf(buffer);
  OPSERVE_ASSIGN_OR_RETURN(ScannedMessage scanned, Scan(split.slices, raw_field, max_raw_entries));
  split.header = std::move(scanned.header);
  split.raw = std::move(scanned.bulk);
  return split;
}

bool TakesLongToRead(const grpc::ByteBuffer& buffer, uint32_t raw_field, size_t max_raw_entries) {
  if (!buffer.Valid() || buffer.Length() <= kInlineHeaderBytes) return false;
  if (HasManySlices(buffer)) return true;
  const absl::StatusOr<ScannedMessage> scanned =
      Scan(SlicesOf(buffer), raw_field, max_raw_entries, kInlineHeaderBytes);
  return scanned.status().code() == absl::StatusCode::kResourceExhausted;
}

void RawWriter::AppendStart(size_t entry_bytes) {
  ++entries_;
  AppendVarint(tag_, copied_);
  AppendVarint(entry_bytes, copied_);
}

void RawWriter::AddCopy(std::span<const std::byte> entry) {
  AppendStart(entry.size());
  if (!entry.empty()) copied_.append(reinterpret_cast<const char*>(entry.data()), entry.size());
}

void RawWriter::Add(PooledBuffer entry) {
  if (entry.size() <= kCopiedBytes) return AddCopy({entry.data(), entry.size()});
  AppendStart(entry.size());
  if (slices_.empty())
    first_ = std::move(copied_);
  else
    slices_.emplace_back(copied_);
  copied_.clear();
  slices_.push_back(LeaseAsSlice(std::move(entry)));
}

grpc::ByteBuffer RawWriter::WriteAfter(std::string header) && {
  // The writer keeps none of the leases.
  std::vector<grpc::Slice> slices = std::move(slices_);
  header.append(slices.empty() ? copied_ : first_);
  if (!slices.empty() && !copied_.empty()) slices.emplace_back(copied_);
  slices.insert(slices.begin(), grpc::Slice(header));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer WriteSplitMessage(std::string header, uint32_t raw_field,
                                   std::vector<PooledBuffer> raw) {
  RawWriter writer(raw_field);
  for (PooledBuffer& entry : raw) writer.Add(std::move(entry));
  return std::move(writer).WriteAfter(std::move(header));
}

absl::Status ReadMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message) {
  OPSERVE_ASSIGN_OR_RETURN(const SplitMessage split, ReadSplitMessage(buffer, kNoBulk, 0));
  return ParseHeader(split.header, message);
}

grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

size_t ExecuteResponseBytes(const v1::ExecuteResponse& header, std::span<const size_t> raw_sizes) {
  size_t bytes = header.ByteSizeLong();
  const size_t tag =
      CodedOutputStream::VarintSize32(BytesTag(v1::ExecuteResponse::kRawFieldNumber));
  for (const size_t size : raw_sizes) bytes += tag + CodedOutputStream::VarintSize64(size) + size;
  return bytes;
}

grpc::ByteBuffer WriteExecuteResponse(const v1::ExecuteResponse& header,
                                      std::vector<PooledBuffer> raw) {
  return WriteSplitMessage(header.SerializeAsString(), v1::ExecuteResponse::kRawFieldNumber,
                           std::move(raw));
}

}  // namespace opserve::server
