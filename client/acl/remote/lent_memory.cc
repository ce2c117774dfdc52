#include "client/acl/remote/lent_memory.h"

#include <algorithm>

#include "core/base/clock.h"

namespace opserve::acl {

uint64_t LentMemory::Lend() {
  const MutexLock lock(mutex_);
  lent_.insert(++latest_);
  return latest_;
}

void LentMemory::Return(uint64_t loan) {
  {
    const MutexLock lock(mutex_);
    lent_.erase(loan);
  }
  changed_.NotifyAll();
}

uint64_t LentMemory::latest() const {
  const MutexLock lock(mutex_);
  return latest_;
}

bool LentMemory::AwaitReturn(uint64_t last, absl::Time deadline) {
  const MutexLock lock(mutex_);
  while (!lent_.empty() && *lent_.begin() <= last) {
    if (!WaitUntil(deadline, changed_, mutex_)) return false;
  }
  return true;
}

void Loans::Add(const std::shared_ptr<LentMemory>& memory) { Add(memory, memory->latest()); }

void Loans::Add(const Loans& loans) {
  for (const auto& [memory, last] : loans.last_) Add(memory, last);
}

void Loans::Add(const std::shared_ptr<LentMemory>& memory, uint64_t last) {
  std::erase_if(last_, [](const auto& entry) {
    return entry.first->AwaitReturn(entry.second, absl::InfinitePast());
  });
  if (memory->AwaitReturn(last, absl::InfinitePast())) return;
  uint64_t& known = last_[memory];
  known = std::max(known, last);
}

bool Loans::AwaitReturn(absl::Time deadline) const {
  return std::all_of(last_.begin(), last_.end(), [deadline](const auto& entry) {
    return entry.first->AwaitReturn(entry.second, deadline);
  });
}

}  // namespace opserve::acl
