#include "server/session/under_way.h"

#include <algorithm>

namespace opserve::server {
namespace {

// So many that are over are never too many.
constexpr size_t kSpare = 64;

}  // namespace

void CommandsUnderWay::Add(uint64_t id, std::atomic<bool>& cancelled) {
  entries_.push_back({id, &cancelled});
}

void CommandsUnderWay::Remove(uint64_t id) {
  Entry* const entry = Find(id);
  if (entry == nullptr) return;
  entry->cancelled = nullptr;
  ++over_;
  if (over_ == entries_.size() || over_ > entries_.size() / 2 + kSpare) Compact();
}

void CommandsUnderWay::Cancel(uint64_t id) {
  Entry* const entry = Find(id);
  if (entry != nullptr) entry->cancelled->store(true, std::memory_order_relaxed);
}

CommandsUnderWay::Entry* CommandsUnderWay::Find(uint64_t id) {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), id,
                       [](const Entry& entry, uint64_t key) { return entry.id < key; });
  const bool is_there = found != entries_.end() && found->id == id && found->cancelled != nullptr;
  return is_there ? &*found : nullptr;
}

void CommandsUnderWay::Compact() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.cancelled == nullptr; });
  over_ = 0;
  if (entries_.capacity() > 4 * (entries_.size() + kSpare)) entries_.shrink_to_fit();
}

}  // namespace opserve::server
