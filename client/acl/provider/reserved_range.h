// Addresses without memory: the host can do nothing with them but arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace opserve::acl {

// A range of this process's addresses that nobody else has and that faults when it is followed.
class ReservedRange {
 public:
  // `size` > 0, in bytes. RESOURCE_LIMIT naming `size` when the process has no such range left.
  static absl::StatusOr<std::unique_ptr<ReservedRange>> Reserve(int64_t size);
  ~ReservedRange();
  ReservedRange(const ReservedRange&) = delete;
  ReservedRange& operator=(const ReservedRange&) = delete;

  // At the start of a page.
  void* start() const { return start_; }

 private:
  ReservedRange(void* start, size_t bytes) : start_(start), bytes_(bytes) {}

  void* const start_;
  const size_t bytes_;
};

}  // namespace opserve::acl
