// The first answer to a call's inputs, which every later one must equal bit for bit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/call.h>

#include "absl/status/status.h"

namespace opserve::loadtest {

// Immutable.
class Expected {
 public:
  // Copies the outputs.
  explicit Expected(const client::ExecuteResult& first);

  // DATA_LOSS, saying where they differ, unless `outputs` are those of the first answer.
  absl::Status Check(const client::ExecuteResult& result) const;
  // The same of the output number `index` alone.
  absl::Status CheckOutput(size_t index, std::string_view name,
                           std::span<const std::byte> bytes) const;
  size_t outputs() const { return outputs_.size(); }
  const std::string& name(size_t index) const { return outputs_[index].first; }
  std::span<const std::byte> bytes(size_t index) const { return outputs_[index].second; }

 private:
  std::vector<std::pair<std::string, std::vector<std::byte>>> outputs_;
};

// Picks a fraction of what comes, evenly. Thread-safe.
class Sampling {
 public:
  // `fraction`: from 0, none, to 1, all.
  explicit Sampling(double fraction) : fraction_(fraction) {}

  bool Next() {
    const auto before = static_cast<double>(seen_.fetch_add(1, std::memory_order_relaxed));
    return static_cast<int64_t>((before + 1) * fraction_) >
           static_cast<int64_t>(before * fraction_);
  }

 private:
  const double fraction_;
  std::atomic<int64_t> seen_ = 0;
};

}  // namespace opserve::loadtest
