// Plans of calls that came before: clients send the same small calls again and again, and reading
// and planning one takes longer than running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "core/base/mutex.h"
#include "server/calls/planned_call.h"

namespace opserve::server {

// The calls that were used last. The key is the message without `raw`, or other bytes that describe
// the call completely, and the number of raw entries. Equal keys are equal calls, so a hit is what
// planning again would give. Thread-safe.
class PlanCache {
 public:
  // The size of the cache, about, and the longest keys of calls and of programs.
  static constexpr size_t kMaxBytes = size_t{4} << 20;
  static constexpr size_t kMaxKeyBytes = 2048;
  static constexpr size_t kMaxProgramKeyBytes = size_t{64} << 10;

  // nullptr when there is none.
  std::shared_ptr<const PlannedCall> Find(std::string_view header, size_t raw_entries);

  // Keeps the plan, and drops the oldest ones if there is no room. Not kept are calls that cannot
  // be shared, long keys, and calls with values, which may be much larger than their message.
  void Put(std::string header, size_t raw_entries, std::shared_ptr<const PlannedCall> planned);

  struct Stats {
    size_t entries = 0;
    size_t bytes = 0;
    int64_t hits = 0;  // of Find
    int64_t misses = 0;
  };
  Stats stats() const;

 private:
  struct Entry {
    std::string header;
    size_t raw_entries;
    std::shared_ptr<const PlannedCall> planned;
    size_t bytes;
  };
  struct Key {
    std::string_view header;  // of the entry
    size_t raw_entries;

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      state = H::combine_contiguous(std::move(state), key.header.data(), key.header.size());
      return H::combine(std::move(state), key.header.size(), key.raw_entries);
    }
  };
  using Entries = std::list<Entry>;

  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // the one used last is in front
  absl::flat_hash_map<Key, Entries::iterator> index_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t hits_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t misses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace opserve::server
