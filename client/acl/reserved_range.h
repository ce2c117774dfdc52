// Addresses without memory: the host can do nothing with them but arithmetic.
#pragma once

#include <cstddef>
#include <memory>

namespace opserve::acl {

// A range of this process's addresses that nobody else has and that faults when it is followed.
class ReservedRange {
 public:
  // `bytes` > 0. Null when the process has no such range left.
  static std::unique_ptr<ReservedRange> Reserve(size_t bytes);
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
