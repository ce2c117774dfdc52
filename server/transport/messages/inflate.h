// Compressed requests. gRPC inflates without a bound, so it is told not to: what reaches a handler
// is as it came.
#pragma once

#include <algorithm>
#include <cstdint>

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"

namespace opserve::server {

// Inflates a message that came compressed with gzip or deflate; leaves any other alone. Errors:
// RESOURCE_EXHAUSTED naming --max-inflated-bytes when it would have more than `max_bytes`, of which
// no more than that was made; 161002 naming `message` for bytes that are not so compressed.
// `max_bytes` 0: nothing compressed ever comes, as gRPC refuses it.
absl::Status Inflate(grpc::ByteBuffer& message, int64_t max_bytes);

// Whether it came compressed: to inflate it takes long, and more memory than it has bytes.
bool IsCompressed(const grpc::ByteBuffer& message);

// A unary request as it is to be read: costs nothing where nothing compressed comes.
class PlainRequest {
 public:
  // `request` must outlive it.
  PlainRequest(const grpc::ByteBuffer& request, int64_t max_bytes) : bytes_(&request) {
    if (!IsCompressed(request)) return;
    inflated_ = request;
    status_ = Inflate(inflated_, max_bytes);
    bytes_ = &inflated_;
    more_bytes_ = std::max<int64_t>(
        0, static_cast<int64_t>(inflated_.Length()) - static_cast<int64_t>(request.Length()));
  }

  // As Inflate's.
  const absl::Status& status() const { return status_; }
  const grpc::ByteBuffer& bytes() const { return *bytes_; }
  // How many bytes more these are than those that came, where they are more.
  int64_t more_bytes() const { return more_bytes_; }

 private:
  const grpc::ByteBuffer* bytes_;
  grpc::ByteBuffer inflated_;
  int64_t more_bytes_ = 0;
  absl::Status status_;
};

}  // namespace opserve::server
