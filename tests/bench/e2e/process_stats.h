// What the kernel counts about a process.
#pragma once

#include <cstdint>

namespace opserve::bench {

struct ProcessStats {
  double cpu_seconds = 0;  // user and system, since it began
  int64_t peak_rss_bytes = 0;
};

// Zeros when there is no such process.
ProcessStats ReadProcessStats(int pid);

}  // namespace opserve::bench
