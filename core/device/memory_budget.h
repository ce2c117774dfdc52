// A limit on the device memory of one owner, such as a session.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace opserve {

// Thread-safe.
class MemoryBudget {
  struct Core;

 public:
  struct Stats {
    int64_t limit_bytes = 0;
    int64_t used_bytes = 0;
    int64_t peak_bytes = 0;
  };

  // A part of a budget. The destructor returns it. It may outlive the budget.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept;
    ~Share() { Release(); }

    int64_t bytes() const { return bytes_; }
    void Release();

   private:
    friend class MemoryBudget;
    std::shared_ptr<Core> core_;
    int64_t bytes_ = 0;
  };

  explicit MemoryBudget(int64_t limit_bytes);

  // RESOURCE_EXHAUSTED naming `parameter` when the limit leaves less than `bytes` (>= 0).
  absl::StatusOr<Share> Take(int64_t bytes, std::string_view parameter);

  Stats stats() const;

 private:
  const std::shared_ptr<Core> core_;
};

}  // namespace opserve
