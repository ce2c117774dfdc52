// The last two minutes of what a server counts, for rates and curves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "server/counters/server_counters.h"

namespace opserve::server {

// Not thread-safe.
class History {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(4);
  static constexpr size_t kIntervals = 30;

  struct Moment {
    absl::Time time;
    ServerCounts counts;
    EngineStatistics engine;
  };

  // Keeps the moment if the last one is kInterval old, and lets those go that are too old.
  void Note(absl::Time now, const ServerCounters& counters, const Engine& engine);
  bool IsDue(absl::Time now) const;

  // The oldest first.
  const std::deque<Moment>& moments() const { return moments_; }

  // How much a number grew a second, in each interval: `read` reads it from a Moment.
  template <typename Read>
  std::vector<double> Rates(const Read& read) const {
    std::vector<double> rates;
    for (size_t i = 1; i < moments_.size(); ++i) {
      const double seconds = absl::ToDoubleSeconds(moments_[i].time - moments_[i - 1].time);
      const auto growth = static_cast<double>(read(moments_[i]) - read(moments_[i - 1]));
      rates.push_back(seconds > 0 ? growth / seconds : 0);
    }
    return rates;
  }

  // From the oldest moment to the newest; zero while there are not two.
  absl::Duration span() const;

 private:
  std::deque<Moment> moments_;
};

// Of the operator; one that was not called has zeros.
OperatorStatistics StatisticsOf(const EngineStatistics& engine, std::string_view op);

}  // namespace opserve::server
