#include <sys/prctl.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "client/loadtest/load/loops.h"
#include "client/loadtest/load/outstanding.h"

namespace opserve::loadtest {
namespace {

// The arrivals of a load, whether they are drawn or were recorded.
class Schedule {
 public:
  explicit Schedule(const OpenLoop& load)
      : recorded_(load.recorded), arrivals_(load.phases, load.spacing, load.seed) {}

  std::optional<absl::Duration> Next() {
    if (recorded_.empty()) {
      const std::optional<Arrival> arrival = arrivals_.Next();
      return arrival.has_value() ? std::optional(arrival->at) : std::nullopt;
    }
    if (next_ == recorded_.size()) return std::nullopt;
    return recorded_[next_++];
  }

 private:
  const std::vector<absl::Duration>& recorded_;
  size_t next_ = 0;
  Arrivals arrivals_;
};

class OpenLoopRun {
 public:
  OpenLoopRun(const LoopParts& parts, const OpenLoop& load) : parts_(parts), load_(load) {}

  void Run() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(load_.threads));
    for (int i = 0; i < load_.threads; ++i) senders_.Add();
    for (int i = 0; i < load_.threads; ++i)
      threads.emplace_back([this, i] {
        SendAll(static_cast<size_t>(i));
        senders_.Remove();
      });
    ExpireUntilNone(senders_);
    for (std::thread& thread : threads) thread.join();
    ExpireUntilNone(outstanding_);
  }

 private:
  void ExpireUntilNone(Outstanding& outstanding) const {
    constexpr absl::Duration kTick = absl::Milliseconds(10);
    while (!outstanding.WaitForNoneUntil(Clock::Real().Now() + kTick)) ExpireAll(parts_.lanes);
  }

  // Each thread knows all arrivals, and sends its share of them.
  void SendAll(size_t thread) {
    prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default of 50 us would show in every latency
    const auto threads = static_cast<size_t>(load_.threads);
    Schedule schedule(load_);
    size_t number = 0;
    while (const std::optional<absl::Duration> at = schedule.Next()) {
      if (number++ % threads != thread) continue;
      const absl::Time due = begin_ + *at;
      if (WaitOrClosed(due) || !parts_.gate.Enter()) return;
      Send(*parts_.lanes[number % parts_.lanes.size()], due);
    }
  }

  // True when the gate is closed.
  bool WaitOrClosed(absl::Time due) {
    if (due <= Clock::Real().Now()) return parts_.gate.closed();
    return parts_.gate.WaitUntilClosed(due);
  }

  void Send(Lane& lane, absl::Time due) {
    const size_t work = parts_.mix.Draw();
    const MixEntry& entry = parts_.mix.entry(work);
    const absl::Time now = Clock::Real().Now();
    const absl::Duration left = due + entry.timeout - now;
    const bool room = outstanding_.Add() <= load_.max_outstanding;
    if (!room || left <= absl::ZeroDuration()) {
      outstanding_.Remove();
      return parts_.recorder.Unsent(work, entry.calls);
    }
    lane.Send(work, left, [this, work, due, now](const Outcome& outcome) {
      parts_.recorder.Answered(
          {.work = work, .due = due, .sent = now, .answered = Clock::Real().Now()}, outcome);
      outstanding_.Remove();
    });
  }

  const LoopParts& parts_;
  const OpenLoop& load_;
  const absl::Time begin_ = Clock::Real().Now();
  Outstanding senders_;
  Outstanding outstanding_;
};

}  // namespace

void RunOpenLoop(const LoopParts& parts, const OpenLoop& load) { OpenLoopRun(parts, load).Run(); }

}  // namespace opserve::loadtest
