#include "client/acl/provider/reserved_range.h"

#include <sys/mman.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::acl {

absl::StatusOr<std::unique_ptr<ReservedRange>> ReservedRange::Reserve(int64_t size) {
  const auto bytes = static_cast<size_t>(size);
  void* start =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "size",
                      .want = "addresses to reserve",
                      .got = absl::StrCat(size, " bytes that this process has no room for")});
  }
  return std::unique_ptr<ReservedRange>(new ReservedRange(start, bytes));
}

ReservedRange::~ReservedRange() { ::munmap(start_, bytes_); }

}  // namespace opserve::acl
