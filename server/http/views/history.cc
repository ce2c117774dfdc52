#include "server/http/views/history.h"

#include <algorithm>

namespace opserve::server {

bool History::IsDue(absl::Time now) const {
  return moments_.empty() || now - moments_.back().time >= kInterval;
}

void History::Note(absl::Time now, const ServerCounters& counters, const Engine& engine) {
  if (!IsDue(now)) return;
  moments_.push_back({.time = now, .counts = counters.Sum(), .engine = engine.statistics()});
  if (moments_.size() > kIntervals + 1) moments_.pop_front();
}

absl::Duration History::span() const {
  return moments_.size() < 2 ? absl::ZeroDuration() : moments_.back().time - moments_.front().time;
}

OperatorStatistics StatisticsOf(const EngineStatistics& engine, std::string_view op) {
  const auto found = std::find_if(engine.operators.begin(), engine.operators.end(),
                                  [op](const OperatorStatistics& each) { return each.op == op; });
  return found == engine.operators.end() ? OperatorStatistics{.op = op} : *found;
}

}  // namespace opserve::server
