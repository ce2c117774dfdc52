// Messages on gRPC's byte buffers, read within bounds; bulk bytes are neither copied in nor copied
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "google/protobuf/message_lite.h"
#include "server/codec/raw_writer.h"

namespace opserve::server {

// Up to here a header is read on the thread that brings it: more takes milliseconds, and other
// messages would wait.
inline constexpr size_t kReadHereHeaderBytes = size_t{64} << 10;
// Likewise for the pieces that a message came in, one a DATA frame or more. A client's are some 8
// KiB, an attacker's 24 bytes.
inline constexpr size_t kReadHereSlices = size_t{64} << 10;

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

// Keeps the bytes of `slices`.
std::shared_ptr<const void> KeepSlices(std::vector<grpc::Slice> slices);

// Whether it came compressed, has more than kReadHereHeaderBytes besides its raw entries, or more
// than kReadHereSlices.
bool TakesLongToRead(const grpc::ByteBuffer& buffer, uint32_t raw_field, size_t max_raw_entries);

// Reads a message that has no bulk. Errors: RESOURCE_EXHAUSTED above kMaxHeaderBytes; 161002 when
// it is no such message.
absl::Status ReadMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message);

grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message);

// The leases of entries end when the transport is done with them.
grpc::ByteBuffer ToByteBuffer(WrittenMessage message);

}  // namespace opserve::server
