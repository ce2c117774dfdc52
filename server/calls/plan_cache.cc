#include "server/calls/plan_cache.h"

#include <utility>

namespace opserve::server {
namespace {

// What an entry takes: attributes, shapes and the answer's form are about as long as the key that
// told of them, in wider numbers.
size_t BytesOf(std::string_view header) { return 2048 + 16 * header.size(); }

}  // namespace

std::shared_ptr<const PlannedCall> PlanCache::Find(std::string_view header, size_t raw_entries) {
  const MutexLock lock(mutex_);
  const auto found = index_.find(Key{header, raw_entries});
  if (found == index_.end()) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->planned;
}

void PlanCache::Put(std::string header, size_t raw_entries,
                    std::shared_ptr<const PlannedCall> planned) {
  const bool is_program = planned->plan()->program != nullptr;
  if (!planned->is_shareable() || !planned->values().empty() ||
      header.size() > (is_program ? kMaxProgramKeyBytes : kMaxKeyBytes))
    return;
  const size_t bytes =
      BytesOf(header) + static_cast<size_t>(is_program ? HostBytes(*planned->plan()) : 0);
  const MutexLock lock(mutex_);
  if (index_.contains(Key{header, raw_entries})) return;
  entries_.push_front({std::move(header), raw_entries, std::move(planned), bytes});
  index_.emplace(Key{entries_.front().header, raw_entries}, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > kMaxBytes) DropOldest();
}

PlanCache::Stats PlanCache::stats() const {
  const MutexLock lock(mutex_);
  return {.entries = entries_.size(), .bytes = bytes_, .hits = hits_, .misses = misses_};
}

void PlanCache::DropOldest() {
  const Entry& oldest = entries_.back();
  bytes_ -= oldest.bytes;
  index_.erase(Key{oldest.header, oldest.raw_entries});
  entries_.pop_back();
}

}  // namespace opserve::server
