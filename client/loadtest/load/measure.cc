#include "client/loadtest/load/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "client/loadtest/load/gate.h"
#include "core/base/clock.h"

namespace opserve::loadtest {
namespace {

// How often `stop` is looked at.
constexpr absl::Duration kLook = absl::Milliseconds(50);

absl::Time Now() { return Clock::Real().Now(); }

// Of this process, since it began.
absl::Duration CpuTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

// The loop of a level on a thread of its own.
class LoopThread {
 public:
  LoopThread(const Lanes& lanes, Mix& mix, Recorder& recorder)
      : parts_{lanes, mix, gate_, recorder} {}
  ~LoopThread() { Join(); }

  void Start(const Level& level) {
    thread_ = std::thread([this, &level] {
      if (level.open.has_value()) {
        RunOpenLoop(parts_, *level.open);
      } else {
        RunClosedLoop(parts_, level.in_flight);
      }
      over_.Close();
    });
  }

  Gate& gate() { return gate_; }
  bool is_over() const { return over_.closed(); }

  // Returns false once the load ends: it is over, `stop` is true, or the gate is closed; true at
  // `until`.
  bool GoesOnUntil(absl::Time until, const std::atomic<bool>& stop) {
    while (!stop && !gate_.closed() && !is_over()) {
      const absl::Time now = Now();
      if (now >= until) return true;
      over_.WaitUntilClosed(std::min(until, now + kLook));
    }
    return false;
  }

  void WaitForLast(const std::atomic<bool>& stop) {
    while (!stop && !over_.WaitUntilClosed(Now() + kLook)) {
    }
  }

  void Join() {
    gate_.Close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Gate gate_;
  Gate over_;
  const LoopParts parts_;
  std::thread thread_;
};

// Window after window, until the load ends.
void FollowWindows(const MeasureOptions& options, const OnWindow& on_window,
                   const std::atomic<bool>& stop, LoopThread& loop, Measurement& result) {
  const absl::Time begin = Now();
  const absl::Time end = begin + options.duration;
  for (absl::Time next = begin + options.window;; next += options.window) {
    if (!loop.GoesOnUntil(std::min(next, end), stop)) return;
    if (next > end) return;
    result.windows.push_back(result.recorder->CloseWindow(Now()));
    on_window(result.level, result.windows.back());
    if (options.tolerance.has_value() && IsStable(result.windows, *options.tolerance)) {
      result.stable = true;
      return;
    }
  }
}

}  // namespace

Measurement Measure(const Lanes& lanes, Mix& mix, const Level& level, const MeasureOptions& options,
                    const OnWindow& on_window, const std::atomic<bool>& stop) {
  Measurement result{.level = level, .recorder = std::make_unique<Recorder>(mix.size())};
  LoopThread loop(lanes, mix, *result.recorder);
  // Without a warm-up, the first message is one of those that are counted.
  const bool warms_up = options.warm_up > absl::ZeroDuration();
  if (warms_up) {
    loop.Start(result.level);
    loop.GoesOnUntil(Now() + options.warm_up, stop);
  }
  const absl::Time begin = Now();
  const absl::Duration cpu = CpuTime();
  result.recorder->Begin(begin, options.tolerance.has_value() ? Keep::kLastThree : Keep::kAll);
  loop.gate().Count(options.max_messages);
  if (!warms_up) loop.Start(result.level);
  FollowWindows(options, on_window, stop, loop, result);
  // The last of so many messages are part of what is measured.
  if (loop.gate().closed()) loop.WaitForLast(stop);
  loop.gate().Close();
  const absl::Time end = Now();
  result.recorder->End(end);
  result.client_cores = absl::FDivDuration(CpuTime() - cpu, end - begin);
  loop.Join();
  result.interrupted = stop;
  return result;
}

}  // namespace opserve::loadtest
