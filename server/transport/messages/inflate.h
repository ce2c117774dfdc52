// Compressed requests. gRPC inflates without a bound, so it is told not to: what reaches a handler
// is as it came.
#pragma once

#include <cstdint>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"

namespace opserve::server {

// Inflates a message that came compressed with gzip or deflate; leaves any other alone. Errors:
// RESOURCE_EXHAUSTED naming --max-inflated-bytes when it would have more than `max_bytes`, of which
// no more than that was made; 161002 naming `message` for bytes that are not so compressed.
// `max_bytes` 0: nothing compressed ever comes, as gRPC refuses it.
absl::Status Inflate(grpc::ByteBuffer& message, int64_t max_bytes);

// A unary request as it is to be read: costs nothing where nothing compressed comes.
class PlainRequest {
 public:
  // `request` must outlive it.
  PlainRequest(const grpc::ByteBuffer& request, int64_t max_bytes) : bytes_(&request) {
    if (max_bytes == 0) return;
    inflated_ = request;
    status_ = Inflate(inflated_, max_bytes);
    bytes_ = &inflated_;
  }

  // As Inflate's.
  const absl::Status& status() const { return status_; }
  const grpc::ByteBuffer& bytes() const { return *bytes_; }

 private:
  const grpc::ByteBuffer* bytes_;
  grpc::ByteBuffer inflated_;
  absl::Status status_;
};

}  // namespace opserve::server
