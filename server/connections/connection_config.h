// How connections live.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace opserve::server {

// Zero is "never" and "no bound".
struct ConnectionConfig {
  absl::Duration max_age;  // then told to go (GOAWAY), and cut `max_age_grace` later
  absl::Duration max_age_grace = absl::Seconds(30);
  absl::Duration max_idle;  // without a call; then told to go
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  int64_t max_concurrent_streams = 128;  // of each
  int64_t memory_quota_bytes = 0;        // of all; soft
};

}  // namespace opserve::server
