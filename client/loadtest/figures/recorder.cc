#include "client/loadtest/figures/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opserve::loadtest {
namespace {

constexpr size_t kStableWindows = 3;

// Whether each of the last three is within ±`tolerance` of their mean.
template <typename Value>
bool AreNear(const std::vector<Window>& windows, double tolerance, Value value) {
  double mean = 0;
  const auto last = windows.end() - kStableWindows;
  for (auto window = last; window != windows.end(); ++window) mean += value(*window) / 3;
  return std::all_of(last, windows.end(), [&](const Window& window) {
    return std::abs(value(window) - mean) <= tolerance * mean;
  });
}

}  // namespace

void Tally::Merge(const Tally& other) {
  latency.Merge(other.latency);
  refusal.Merge(other.refusal);
  queued.Merge(other.queued);
  executed.Merge(other.executed);
  lag.Merge(other.lag);
  served_calls += other.served_calls;
  failed_calls += other.failed_calls;
  in_time_calls += other.in_time_calls;
  unsent_calls += other.unsent_calls;
  request_bytes += other.request_bytes;
  answer_bytes += other.answer_bytes;
}

void Tally::Reset() {
  for (Histogram* histogram : {&latency, &refusal, &queued, &executed, &lag}) histogram->Reset();
  for (std::atomic<int64_t>* count :
       {&served_calls, &failed_calls, &in_time_calls, &unsent_calls, &request_bytes, &answer_bytes})
    count->store(0);
}

bool IsStable(const std::vector<Window>& windows, double tolerance) {
  return windows.size() >= kStableWindows && windows.back().calls_per_second > 0 &&
         AreNear(windows, tolerance, [](const Window& one) { return one.calls_per_second; }) &&
         AreNear(windows, tolerance,
                 [](const Window& one) { return absl::ToDoubleSeconds(one.p50); });
}

Recorder::Recorder(size_t works) : end_ns_(std::numeric_limits<int64_t>::max()) {
  for (std::unique_ptr<Tally>& tally : tallies_) tally = std::make_unique<Tally>();
  for (size_t i = 0; i < works; ++i) works_.push_back(std::make_unique<WorkTally>());
}

void Recorder::Begin(absl::Time now, Keep keep) {
  keep_ = keep;
  begin_ = window_begin_ = now;
  measuring_ = true;
}

Window Recorder::CloseWindow(absl::Time now) {
  const size_t index = current_;
  const size_t next = (index + 1) % kTallies;
  if (closed_ + 1 >= kTallies) {  // the oldest makes room
    if (keep_ == Keep::kAll) older_.Merge(*tallies_[next]);
    if (keep_ == Keep::kAll) measured_ += lengths_[next];
    tallies_[next]->Reset();
  } else {
    ++closed_;
  }
  current_.store(next, std::memory_order_release);
  const Tally& tally = *tallies_[index];
  const absl::Duration length = lengths_[index] = now - window_begin_;
  const double seconds = std::max(1e-9, absl::ToDoubleSeconds(length));
  const Window window{
      .begin = window_begin_ - begin_,
      .length = length,
      .calls_per_second = static_cast<double>(tally.in_time_calls) / seconds,
      .request_bytes_per_second = static_cast<double>(tally.request_bytes) / seconds,
      .answer_bytes_per_second = static_cast<double>(tally.answer_bytes) / seconds,
      .failed_calls = tally.failed_calls,
      .unsent_calls = tally.unsent_calls,
      .p50 = tally.latency.Quantile(0.5),
      .p90 = tally.latency.Quantile(0.9),
      .p99 = tally.latency.Quantile(0.99),
      .max = tally.latency.max()};
  window_begin_ = now;
  return window;
}

void Recorder::End(absl::Time now) {
  end_ns_ = absl::ToUnixNanos(now);
  lengths_[current_] = std::max(absl::ZeroDuration(), now - window_begin_);
}

void Recorder::RecordIn(Tally& tally, const Message& message, const Outcome& outcome) {
  const absl::Duration latency = message.answered - message.due;
  tally.lag.Record(message.sent - message.due);
  if (!outcome.status.ok()) {
    tally.refusal.Record(latency);
    tally.failed_calls += outcome.calls;
    return;
  }
  const int64_t served = outcome.calls - outcome.failed_calls;
  tally.latency.Record(latency);
  tally.served_calls += served;
  tally.failed_calls += outcome.failed_calls;
  if (absl::ToUnixNanos(message.answered) < end_ns_) {
    tally.in_time_calls += served;
    tally.request_bytes += outcome.request_bytes;
    tally.answer_bytes += outcome.answer_bytes;
  }
  const double part = static_cast<double>(served) * PartInside(message);
  served_billionths_ += static_cast<int64_t>(part * 1e9);
  if (outcome.executions == 0) return;
  tally.queued.Record(outcome.queued / outcome.executions);
  tally.executed.Record(outcome.executed / outcome.executions);
}

void Recorder::Answered(const Message& message, const Outcome& outcome) {
  const int64_t failed = outcome.status.ok() ? outcome.failed_calls : outcome.calls;
  ++totals_.messages;
  totals_.calls += outcome.calls;
  totals_.failed_calls += failed;
  totals_.checked_calls += outcome.checked_calls;
  const bool early = !measuring_;
  if (failed > 0) {
    Failures& failures = early ? early_failures_ : failures_;
    failures.Add(outcome.status.ok() ? outcome.first_error : outcome.status, failed);
  }
  if (early) return;
  RecordIn(current(), message, outcome);
  WorkTally& work = *works_[message.work];
  work.failed_calls += failed;
  work.served_calls += outcome.calls - failed;
  if (outcome.status.ok()) work.latency.Record(message.answered - message.due);
}

void Recorder::Unsent(size_t work, int64_t calls) {
  if (!measuring_) return;
  current().unsent_calls += calls;
  works_[work]->failed_calls += calls;
}

const Tally& Recorder::Merged() {
  const size_t kept = keep_ == Keep::kAll ? closed_ : std::min<size_t>(closed_, kStableWindows);
  const size_t index = current_;
  // Of the last three windows, the one that is open is none: it holds what ended late.
  if (keep_ == Keep::kAll || kept == 0) {
    older_.Merge(*tallies_[index]);
    measured_ += lengths_[index];
  }
  for (size_t back = 1; back <= kept; ++back) {
    const size_t before = (index + kTallies - back) % kTallies;
    older_.Merge(*tallies_[before]);
    measured_ += lengths_[before];
  }
  return older_;
}

double Recorder::PartInside(const Message& message) const {
  const absl::Time end = absl::FromUnixNanos(end_ns_);
  if (message.answered <= message.sent) return message.answered < end ? 1 : 0;
  const absl::Duration inside = std::min(message.answered, end) - std::max(message.sent, begin_);
  if (inside <= absl::ZeroDuration()) return 0;
  return absl::FDivDuration(inside, message.answered - message.sent);
}

double Recorder::ServedPerSecond() const {
  if (keep_ != Keep::kAll) return InTimePerSecond();
  const double seconds = std::max(1e-9, absl::ToDoubleSeconds(measured_));
  return static_cast<double>(served_billionths_) / 1e9 / seconds;
}

double Recorder::InTimePerSecond() const {
  const double seconds = std::max(1e-9, absl::ToDoubleSeconds(measured_));
  return static_cast<double>(older_.in_time_calls) / seconds;
}

}  // namespace opserve::loadtest
