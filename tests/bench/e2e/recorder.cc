#include "tests/bench/e2e/recorder.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace opserve::bench {

void Tally::Add(absl::Duration latency, const absl::Status& status) {
  if (status.ok()) return served.Record(latency);
  failed.Record(latency);
  ++codes[std::min(kCodes - 1, static_cast<size_t>(status.raw_code()))];
}

Recorder::Recorder(Layout layout)
    : layout_(std::move(layout)),
      first_(std::numeric_limits<int64_t>::max()),
      last_(std::numeric_limits<int64_t>::min()) {
  for (size_t i = 0; i < layout_.phase_ends.size(); ++i)
    phases_.push_back(std::make_unique<Tally>());
  if (layout_.interval <= absl::ZeroDuration()) return;
  for (absl::Time at = layout_.start; at < layout_.end; at += layout_.interval)
    intervals_.push_back(std::make_unique<Tally>());
}

template <typename Visitor>
void Recorder::Visit(absl::Time moment, Visitor visit) {
  if (moment < layout_.start || moment >= layout_.end) return;
  visit(total_);
  const auto& ends = layout_.phase_ends;
  const auto phase =
      static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), moment) - ends.begin());
  if (phase < phases_.size()) visit(*phases_[phase]);
  if (intervals_.empty()) return;
  const double index = absl::FDivDuration(moment - layout_.start, layout_.interval);
  visit(*intervals_[std::min(static_cast<size_t>(index), intervals_.size() - 1)]);
}

void Recorder::Record(absl::Time moment, absl::Duration latency, const absl::Status& status) {
  Visit(moment, [&](Tally& tally) {
    tally.Add(latency, status);
    if (status.ok() && &tally == &total_) Extend(moment);
  });
}

void Recorder::Extend(absl::Time moment) {
  const int64_t now = absl::ToUnixNanos(moment);
  int64_t first = first_.load(std::memory_order_relaxed);
  while (now < first && !first_.compare_exchange_weak(first, now)) {
  }
  int64_t last = last_.load(std::memory_order_relaxed);
  while (now > last && !last_.compare_exchange_weak(last, now)) {
  }
}

double Recorder::ServedPerSecond() const {
  const int64_t served = total_.served.count();
  if (served == 0) return 0;
  if (served == 1) return 1 / absl::ToDoubleSeconds(total_.served.mean());
  return static_cast<double>(served - 1) * 1e9 /
         static_cast<double>(std::max<int64_t>(1, last_.load() - first_.load()));
}

void Recorder::RecordUnsent(absl::Time moment) {
  Visit(moment, [](Tally& tally) { ++tally.unsent; });
}

void Recorder::Fault(const absl::Status& status) {
  MutexLock lock(mutex_);
  fault_.Update(status);
}

absl::Status Recorder::fault() const {
  MutexLock lock(mutex_);
  return fault_;
}

}  // namespace opserve::bench
