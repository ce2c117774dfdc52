#include "client/loadtest/load/mix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace opserve::loadtest {
namespace {

// The `index`th number of the sequence that `seed` begins (splitmix64).
uint64_t Scrambled(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Mix::Mix(std::vector<MixEntry> entries, uint64_t seed) : entries_(std::move(entries)), seed_(seed) {
  double sum = 0;
  for (const MixEntry& entry : entries_) ends_.push_back(sum += entry.weight);
  for (double& end : ends_) end /= sum;
}

size_t Mix::Draw() {
  if (entries_.size() == 1) return 0;
  const uint64_t random = Scrambled(seed_, drawn_.fetch_add(1, std::memory_order_relaxed));
  const double place = std::ldexp(static_cast<double>(random >> 11), -53);
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), place);
  return std::min(static_cast<size_t>(end - ends_.begin()), entries_.size() - 1);
}

}  // namespace opserve::loadtest
