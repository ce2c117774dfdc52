// The bounds of one session. See SessionInfo in session.proto.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace opserve::server {

struct SessionLimits {
  int64_t memory_limit_bytes = int64_t{1} << 30;
  int64_t max_handles = 65536;
  int64_t max_queued_commands = 16384;
  int64_t window_bytes = int64_t{16} << 20;
  int64_t max_skew_bytes = int64_t{4} << 20;
  int64_t chunk_bytes = int64_t{1} << 20;  // recommended: large streams were fastest with it
  int64_t max_message_bytes = int64_t{256} << 20;
  int64_t host_memory_bytes = int64_t{128} << 20;  // of its objects
  // The session ends when its client does not read an answer for this long.
  absl::Duration stall_timeout = absl::Seconds(30);
  // The session ends after this time without any activity. 0: never.
  absl::Duration idle_timeout;
};

}  // namespace opserve::server
