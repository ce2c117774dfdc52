#include "server/allocator.h"

#include <malloc.h>

namespace opserve::server {
namespace {

// Free memory at the end of a heap that is kept.
constexpr int kKeptBytes = 256 << 20;
// From here on a block is mapped, and unmapped, by itself: larger than any that gRPC allocates.
constexpr int kMappedBytes = 32 << 20;

}  // namespace

void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
}

}  // namespace opserve::server
