#include "server/allocator.h"

#include <malloc.h>

#include <algorithm>
#include <thread>

namespace opserve::server {
namespace {

// Free memory at the end of a heap that is kept.
constexpr int kKeptBytes = 256 << 20;
// From here on a block is mapped, and unmapped, by itself: larger than any that gRPC allocates.
constexpr int kMappedBytes = 32 << 20;

// malloc makes eight arenas a core otherwise, and nothing gives back what is free at the end of
// one, up to 64 MiB. As many as there are cores are as fast.
int Arenas() { return std::max(2, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

void SetUpMalloc() {
  mallopt(M_ARENA_MAX, Arenas());
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  // No fast bins: malloc joins what lies in them when some thread asks for more than 1 KiB. After a
  // message of a million parts that took a thread of the network tens of milliseconds.
  mallopt(M_MXFAST, 0);
}

}  // namespace opserve::server
