#include "client/cpp/memory/region_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "client/cpp/transport/message_stream.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

constexpr int64_t kSmallestRegion = int64_t{64} << 10;

// Four sizes for each power of two: calls of about one size use the same regions.
int64_t RoundedUp(int64_t bytes) {
  if (bytes <= kSmallestRegion) return kSmallestRegion;
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes - 1))) / 4;
  return (bytes + step - 1) / step * step;
}

int64_t SizeOf(const SharedRegion& region) { return static_cast<int64_t>(region.bytes.size()); }

}  // namespace

bool RegionBudget::Take(int64_t bytes) {
  int64_t taken = bytes_.load();
  do {
    if (bytes > limit_bytes_ - taken) return false;
  } while (!bytes_.compare_exchange_weak(taken, taken + bytes));
  return true;
}

RegionPool::RegionPool(std::string_view socket_path, std::shared_ptr<RegionBudget> budget,
                       absl::Duration patience, absl::Duration idle)
    : budget_(std::move(budget)), patience_(patience), idle_(idle), socket_(socket_path) {}

absl::Status RegionPool::Connect(absl::Time deadline) {
  const MutexLock lock(socket_mutex_);
  return socket_.Connect(deadline);
}

absl::StatusOr<std::shared_ptr<SharedRegion>> RegionPool::Take(int64_t bytes, absl::Time deadline) {
  constexpr int64_t kMost = int64_t{1} << 60;
  if (bytes > kMost) return absl::ResourceExhaustedError("no region is so large");
  const int64_t size = RoundedUp(bytes);
  std::shared_ptr<SharedRegion> region = TakeFree(size);
  if (region == nullptr) {
    OPSERVE_ASSIGN_OR_RETURN(region, Make(size, deadline));
  }
  return Lend(std::move(region));
}

std::shared_ptr<SharedRegion> RegionPool::TakeFree(int64_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = std::find_if(free_.rbegin(), free_.rend(), [bytes](const Free& free) {
    return SizeOf(*free.region) == bytes;
  });
  if (found == free_.rend()) return nullptr;
  std::shared_ptr<SharedRegion> region = std::move(found->region);
  free_.erase(std::next(found).base());
  return region;
}

bool RegionPool::MakeRoom(int64_t bytes) {
  while (!budget_->Take(bytes)) {
    std::shared_ptr<SharedRegion> oldest;
    {
      const MutexLock lock(mutex_);
      if (free_.empty()) return false;
      oldest = std::move(free_.front().region);
      free_.erase(free_.begin());
    }
    Discard(*oldest);
  }
  return true;
}

absl::StatusOr<std::shared_ptr<SharedRegion>> RegionPool::Make(int64_t bytes, absl::Time deadline) {
  if (!MakeRoom(bytes))
    return absl::ResourceExhaustedError("the client holds as much shared memory as it may");
  const absl::Time turn = std::min(deadline, Clock::Real().Now() + patience_);
  const MutexLock lock(socket_mutex_);
  const absl::Time now = Clock::Real().Now();
  absl::StatusOr<std::shared_ptr<SharedRegion>> made =
      is_broken_   ? absl::UnavailableError("the connection is over")
      : now > turn ? absl::ResourceExhaustedError("others wait for shared memory")
                   : Ask(bytes, now, deadline);
  if (!made.ok()) {
    budget_->GiveBack(bytes);
    is_broken_ = is_broken_ || !absl::IsResourceExhausted(made.status());
    return made.status();
  }
  SharedRegion* const region = made->get();
  return std::shared_ptr<SharedRegion>(
      region, [owner = *std::move(made), budget = budget_, bytes](SharedRegion* /*same*/) mutable {
        owner.reset();
        budget->GiveBack(bytes);
      });
}

absl::StatusOr<std::shared_ptr<SharedRegion>> RegionPool::Ask(int64_t bytes, absl::Time now,
                                                              absl::Time deadline) {
  const absl::Time patience_ends = now + patience_ - waited_;
  absl::StatusOr<std::shared_ptr<SharedRegion>> made =
      socket_.Allocate(bytes, std::min(deadline, patience_ends));
  const bool is_late = absl::IsDeadlineExceeded(made.status());
  waited_ = is_late ? waited_ + (Clock::Real().Now() - now) : absl::ZeroDuration();
  // The call had little time: no fault of the server's.
  if (is_late && deadline < patience_ends)
    return absl::ResourceExhaustedError("no shared memory in time");
  return made;
}

std::shared_ptr<SharedRegion> RegionPool::Lend(std::shared_ptr<SharedRegion> region) {
  SharedRegion* const lent = region.get();
  const auto take_back = [pool = weak_from_this(),
                          region = std::move(region)](SharedRegion* /*same*/) mutable {
    const std::shared_ptr<RegionPool> alive = pool.lock();
    if (alive != nullptr) alive->Return(std::move(region));
  };
  return {lent, take_back};
}

void RegionPool::Return(std::shared_ptr<SharedRegion> region) {
  if (region->is_spoiled.load()) return Discard(*region);
  {
    const MutexLock lock(mutex_);
    free_.push_back({std::move(region), Clock::Real().Now()});
    if (std::exchange(trims_, true)) return;
  }
  TrimLater();
}

void RegionPool::Discard(const SharedRegion& region) {
  const MutexLock lock(socket_mutex_);
  if (!is_broken_) is_broken_ = !socket_.Release(region.id);
}

void RegionPool::TrimLater() {
  RunSoon(
      [pool = weak_from_this()] {
        const std::shared_ptr<RegionPool> alive = pool.lock();
        if (alive != nullptr) alive->Trim();
      },
      idle_);
}

void RegionPool::Trim() {
  std::vector<Free> idle;
  bool is_empty = false;
  {
    const MutexLock lock(mutex_);
    const absl::Time before = Clock::Real().Now() - idle_;
    const auto used = std::find_if(free_.begin(), free_.end(),
                                   [before](const Free& free) { return free.since > before; });
    idle.assign(std::make_move_iterator(free_.begin()), std::make_move_iterator(used));
    free_.erase(free_.begin(), used);
    is_empty = free_.empty();
    trims_ = !is_empty;
  }
  for (const Free& free : idle) Discard(*free.region);
  if (!is_empty) TrimLater();
}

}  // namespace opserve::client
