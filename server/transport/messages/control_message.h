// Requests of health checks and reflection.
#pragma once

#include <cstddef>
#include <cstdint>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"

namespace opserve::server {

// The longest name that they can ask for is far shorter.
inline constexpr size_t kMaxControlBytes = 4096;

// Errors: RESOURCE_EXHAUSTED above kMaxControlBytes, compressed or not; 161001 where there is no
// message; 161002 when it is not of that type. `max_inflated_bytes` as OperatorServiceOptions'.
absl::Status ReadControlMessage(const grpc::ByteBuffer& bytes, int64_t max_inflated_bytes,
                                google::protobuf::MessageLite& message);

}  // namespace opserve::server
