#include "tests/bench/e2e/recorder.h"

#include <algorithm>
#include <utility>

namespace opserve::bench {

void Tally::Add(absl::Duration latency, const absl::Status& status) {
  if (status.ok()) return served.Record(latency);
  failed.Record(latency);
  ++codes[std::min(kCodes - 1, static_cast<size_t>(status.raw_code()))];
}

Recorder::Recorder(Layout layout) : layout_(std::move(layout)) {
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

void Recorder::Record(absl::Time sent, absl::Time answered, const absl::Status& status) {
  if (sent >= layout_.end) return;
  if (status.ok())
    served_billionths_.fetch_add(static_cast<int64_t>(PartInside(sent, answered) * 1e9));
  RecordAt(std::min(answered, layout_.end - absl::Nanoseconds(1)), answered - sent, status);
}

void Recorder::RecordDue(absl::Time due, absl::Time answered, const absl::Status& status) {
  RecordAt(due, answered - due, status);
}

void Recorder::RecordAt(absl::Time moment, absl::Duration latency, const absl::Status& status) {
  Visit(moment, [&](Tally& tally) { tally.Add(latency, status); });
}

double Recorder::PartInside(absl::Time sent, absl::Time answered) const {
  const absl::Duration inside = std::min(answered, layout_.end) - std::max(sent, layout_.start);
  if (inside <= absl::ZeroDuration()) return 0;
  return absl::FDivDuration(inside, answered - sent);
}

double Recorder::ServedPerSecond() const {
  return static_cast<double>(served_billionths_.load()) / 1e9 /
         absl::ToDoubleSeconds(layout_.end - layout_.start);
}

void Recorder::RecordUnsent(absl::Time due) {
  Visit(due, [](Tally& tally) { ++tally.unsent; });
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
