// Splits a serialized protobuf message, as a transport delivers it, into a small header and the
// bulk bytes that stay where they are. Knows neither gRPC nor the generated code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"

namespace opserve::server {

// One message in consecutive pieces of any length (0 too), cut at any byte.
using MessagePieces = std::span<const std::span<const std::byte>>;

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

}  // namespace opserve::server
