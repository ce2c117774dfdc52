#include "core/device/memory_budget.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"

namespace opserve {

struct MemoryBudget::Core {
  explicit Core(int64_t limit) : stats({.limit_bytes = limit}) {}
  Mutex mutex;
  Stats stats ABSL_GUARDED_BY(mutex);
};

MemoryBudget::MemoryBudget(int64_t limit_bytes) : core_(std::make_shared<Core>(limit_bytes)) {}

absl::StatusOr<MemoryBudget::Share> MemoryBudget::Take(int64_t bytes, std::string_view parameter) {
  MutexLock lock(core_->mutex);
  Stats& stats = core_->stats;
  if (bytes > stats.limit_bytes - stats.used_bytes) {
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = std::string(parameter),
                      .want = absl::StrCat("at most ", stats.limit_bytes - stats.used_bytes,
                                           " bytes more, of a limit of ", stats.limit_bytes),
                      .got = absl::StrCat(bytes)});
  }
  stats.used_bytes += bytes;
  stats.peak_bytes = std::max(stats.peak_bytes, stats.used_bytes);
  Share share;
  share.core_ = core_;
  share.bytes_ = bytes;
  return share;
}

MemoryBudget::Stats MemoryBudget::stats() const {
  MutexLock lock(core_->mutex);
  return core_->stats;
}

MemoryBudget::Share& MemoryBudget::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  Release();
  core_ = std::move(other.core_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void MemoryBudget::Share::Release() {
  if (core_ == nullptr) return;
  {
    MutexLock lock(core_->mutex);
    core_->stats.used_bytes -= bytes_;
  }
  core_.reset();
  bytes_ = 0;
}

}  // namespace opserve
