// The bounds of one session. See SessionInfo in session.proto.
#pragma once

#include <cstdint>

namespace opserve::server {

struct SessionLimits {
  int64_t memory_limit_bytes = int64_t{1} << 30;
  int64_t max_handles = 65536;
  int64_t max_queued_commands = 16384;
  int64_t window_bytes = int64_t{16} << 20;
  int64_t max_skew_bytes = int64_t{4} << 20;
  int64_t chunk_bytes = int64_t{1} << 20;
  int64_t max_message_bytes = int64_t{256} << 20;
  int64_t host_memory_bytes = int64_t{128} << 20;  // of its objects
};

}  // namespace opserve::server
