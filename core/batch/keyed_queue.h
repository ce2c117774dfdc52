// What waits to be done, by what may be done together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace opserve {

// Values in the order in which they came, each with a ticket. The ticket is queued wherever work
// waits for its turn; in that turn its value is taken, with others that have its key, unless an
// earlier turn has taken it. So nothing overtakes what has another key, but by going along.
// Thread-safe.
template <typename Value>
class KeyedQueue {
 public:
  struct Bounds {
    size_t values = 1;
    int64_t bytes = 0;  // a value is taken by itself however large it is
  };

  // The ticket; they count up.
  uint64_t Add(const std::string& key, Value value, int64_t bytes) {
    MutexLock lock(mutex_);
    waiting_[key].push_back({.value = std::move(value), .bytes = bytes, .ticket = next_});
    return next_++;
  }

  // The ticket's value, and the oldest of its key up to the bounds; none when the ticket's has been
  // taken.
  std::vector<Value> Take(const std::string& key, uint64_t ticket, const Bounds& bounds) {
    std::vector<Value> taken;
    MutexLock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return taken;
    std::deque<Entry>& entries = found->second;
    const auto own =
        std::lower_bound(entries.begin(), entries.end(), ticket,
                         [](const Entry& entry, uint64_t wanted) { return entry.ticket < wanted; });
    if (own == entries.end() || own->ticket != ticket) return taken;
    int64_t left = bounds.bytes - own->bytes;
    taken.push_back(std::move(own->value));
    entries.erase(own);
    while (!entries.empty() && taken.size() < bounds.values && entries.front().bytes <= left) {
      left -= entries.front().bytes;
      taken.push_back(std::move(entries.front().value));
      entries.pop_front();
    }
    if (entries.empty()) waiting_.erase(found);
    return taken;
  }

 private:
  struct Entry {
    Value value;
    int64_t bytes;
    uint64_t ticket;
  };

  Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<Entry>> waiting_ ABSL_GUARDED_BY(mutex_);  // no empty ones
};

}  // namespace opserve
