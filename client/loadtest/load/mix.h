// Which message of a load comes next.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace opserve::loadtest {

// An entry of a load's mix.
struct MixEntry {
  double weight = 1;  // > 0: how often it comes, beside the others
  absl::Duration timeout;
  int64_t calls = 1;  // of operators, in its message
};

// Draws entries at random, each as often as its weight says. Two of one seed draw the same.
// Thread-safe.
class Mix {
 public:
  Mix(std::vector<MixEntry> entries, uint64_t seed);

  size_t Draw();
  const MixEntry& entry(size_t index) const { return entries_[index]; }
  size_t size() const { return entries_.size(); }

 private:
  const std::vector<MixEntry> entries_;
  std::vector<double> ends_;  // of each entry's part of [0, 1)
  const uint64_t seed_;
  std::atomic<uint64_t> drawn_ = 0;
};

}  // namespace opserve::loadtest
