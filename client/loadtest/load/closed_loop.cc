#include <utility>
#include <vector>

#include "client/loadtest/load/loops.h"
#include "client/loadtest/load/outstanding.h"

namespace opserve::loadtest {
namespace {

constexpr absl::Duration kRest = absl::Milliseconds(10);

class ClosedLoop {
 public:
  explicit ClosedLoop(const LoopParts& parts) : parts_(parts) {}

  void Run(int in_flight) {
    for (int i = 0; i < in_flight; ++i) {
      outstanding_.Add();
      Next(*parts_.lanes[static_cast<size_t>(i) % parts_.lanes.size()]);
    }
    while (!outstanding_.WaitForNoneUntil(Clock::Real().Now() + kRest)) {
      WakeResting();
      ExpireAll(parts_.lanes);
    }
  }

 private:
  void Next(Lane& lane) {
    if (lane.is_broken() || !parts_.gate.Enter()) return outstanding_.Remove();
    const size_t work = parts_.mix.Draw();
    const absl::Time sent = Clock::Real().Now();
    lane.Send(
        work, parts_.mix.entry(work).timeout, [this, &lane, work, sent](const Outcome& outcome) {
          parts_.recorder.Answered(
              {.work = work, .due = sent, .sent = sent, .answered = Clock::Real().Now()}, outcome);
          if (absl::IsUnavailable(outcome.status)) return Rest(lane);
          Next(lane);
        });
  }

  void Rest(Lane& lane) {
    const MutexLock lock(mutex_);
    resting_.push_back(&lane);
  }

  void WakeResting() {
    std::vector<Lane*> awake;
    {
      const MutexLock lock(mutex_);
      awake.swap(resting_);
    }
    for (Lane* lane : awake) Next(*lane);
  }

  const LoopParts& parts_;
  Outstanding outstanding_;
  Mutex mutex_;
  std::vector<Lane*> resting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void RunClosedLoop(const LoopParts& parts, int in_flight) { ClosedLoop(parts).Run(in_flight); }

}  // namespace opserve::loadtest
