// Messages on gRPC's byte buffers, read within bounds; bulk bytes are neither copied in nor copied
// out. Byte for byte the wire format of operator_service.proto and session.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/device/memory_pool.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::server {

// What a request may hold besides `raw`: protobuf turns two bytes into objects of a hundred, so
// this bounds memory. Without it, a message of 256 MiB could take 15 GiB.
inline constexpr size_t kMaxHeaderBytes = size_t{2} << 20;
inline constexpr size_t kMaxRawEntries = 4096;
// Up to here a header is read on the thread that brings it: more takes milliseconds, and other
// messages would wait.
inline constexpr size_t kInlineHeaderBytes = size_t{64} << 10;
// Likewise for the pieces that a message came in, one a DATA frame or more. A client's are some 8
// KiB, an attacker's 24 bytes.
inline constexpr size_t kInlineSlices = size_t{64} << 10;

// A message before its header is parsed. Movable: moving keeps every address.
struct SplitMessage {
  std::string header;
  std::vector<Fragments> raw;  // points into `slices`
  std::vector<grpc::Slice> slices;
};

// Cuts the bytes of field `raw_field`, of at most `max_raw_entries` entries, out of a message.
// Errors as ScanMessage's.
absl::StatusOr<SplitMessage> ReadSplitMessage(const grpc::ByteBuffer& buffer, uint32_t raw_field,
                                              size_t max_raw_entries);

// Whether it has more than kInlineHeaderBytes besides its raw entries, or more than kInlineSlices.
bool TakesLongToRead(const grpc::ByteBuffer& buffer, uint32_t raw_field, size_t max_raw_entries);

// 161002: a header that is no `type` ("opserve.v1.ExecuteRequest").
absl::Status NotAMessage(std::string_view type);

// 161002 when `header` is no such message.
absl::Status ParseHeader(const std::string& header, google::protobuf::MessageLite& message);

// Reads a message that has no bulk. Errors: RESOURCE_EXHAUSTED above kMaxHeaderBytes; 161002 when
// it is no such message.
absl::Status ReadMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message);

grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message);

// Up to here an entry is copied into its message: that costs less than a slice of its own.
inline constexpr size_t kCopiedBytes = 2048;

// The raw entries of a message that is being put together.
class RawWriter {
 public:
  explicit RawWriter(uint32_t raw_field) : tag_(raw_field << 3 | 2) {}

  // Large ones are not copied: the message owns their leases, which end when the transport is done
  // with them.
  void Add(PooledBuffer entry);
  void AddCopy(std::span<const std::byte> entry);
  // How many were added.
  uint32_t entries() const { return entries_; }

  // The message that begins with `header`, then has the entries.
  grpc::ByteBuffer WriteAfter(std::string header) &&;

 private:
  void AppendStart(size_t entry_bytes);

  const uint32_t tag_;
  uint32_t entries_ = 0;
  std::string first_;                // what precedes slices_
  std::vector<grpc::Slice> slices_;  // begins with a large entry
  std::string copied_;               // what follows the last of slices_
};

// The message that begins with `header`, then has `raw` as the entries of its field `raw_field`, as
// RawWriter does it.
grpc::ByteBuffer WriteSplitMessage(std::string header, uint32_t raw_field,
                                   std::vector<PooledBuffer> raw);

// Bytes of the message that WriteExecuteResponse makes of `header` and raw entries of these sizes.
size_t ExecuteResponseBytes(const v1::ExecuteResponse& header, std::span<const size_t> raw_sizes);

// The message `header` (whose `raw` is empty) with `raw` as its raw entries, as WriteSplitMessage
// does it.
grpc::ByteBuffer WriteExecuteResponse(const v1::ExecuteResponse& header,
                                      std::vector<PooledBuffer> raw);

}  // namespace opserve::server
