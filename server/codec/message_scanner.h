// Splits a serialized protobuf message, as a transport delivers it, into a small header and the
// bulk bytes that stay where they are. Knows nothing of the generated code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "google/protobuf/message_lite.h"
#include "server/codec/field_reader.h"

namespace opserve::server {

// What a request may hold besides `raw`: protobuf turns two bytes into objects of a hundred, so
// this bounds memory. Without it, a message of 256 MiB could take 15 GiB.
inline constexpr size_t kMaxHeaderBytes = size_t{2} << 20;
inline constexpr size_t kMaxRawEntries = 4096;

struct ScannedMessage {
  // Every top-level field that is not bulk, byte for byte, in the order in which they came: a
  // message of its own.
  std::string header;
  // The payload of each occurrence of the bulk field, in order. Points into the pieces.
  std::vector<Fragments> bulk;
};

// What a message may make the server allocate.
struct ScanLimits {
  size_t max_header_bytes = 0;
  size_t max_bulk_entries = 0;
  std::string_view bulk_name = "raw entries";  // for errors
};

// Cuts the top-level fields of number `bulk_field` with wire type 2 out of the message; a field of
// that number with another wire type is header. Looks inside no field, so what it returns as header
// may still be malformed inside. Work is linear in the header's bytes and the number of pieces;
// memory is bounded by `limits`.
//
// Errors name the parameter "message" and the byte: 161002 for what is not a message (truncated, a
// varint that is too long, a field number of 0, groups and unknown wire types, too many bulk
// entries), RESOURCE_EXHAUSTED for too large a header.
absl::StatusOr<ScannedMessage> ScanMessage(MessagePieces pieces, uint32_t bulk_field,
                                           const ScanLimits& limits);

// 161002: a header that is no `type` ("opserve.v1.ExecuteRequest").
absl::Status NotAMessage(std::string_view type);

// 161002 when `header` is no such message.
absl::Status ParseHeader(std::string_view header, google::protobuf::MessageLite& message);

}  // namespace opserve::server
