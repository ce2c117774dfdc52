#include "client/acl/reserved_range.h"

#include <sys/mman.h>

namespace opserve::acl {

std::unique_ptr<ReservedRange> ReservedRange::Reserve(size_t bytes) {
  void* start =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  return std::unique_ptr<ReservedRange>(new ReservedRange(start, bytes));
}

ReservedRange::~ReservedRange() { ::munmap(start_, bytes_); }

}  // namespace opserve::acl
