#include "core/engine/run/call_group.h"

#include <memory>
#include <utility>

#include "core/engine/run/timely.h"

namespace opserve {
namespace {

// A turn of a group; makes the next one itself.
class GroupTurn final : public WorkerPool::Task {
 public:
  struct State {
    CallGroup group;
    Admission::Place place;
    EngineCounters& counters;
    bool started = false;
  };

  explicit GroupTurn(std::unique_ptr<State> state) : state_(std::move(state)) {}

  static void Enqueue(std::unique_ptr<State> state) {
    WorkerPool& workers = state->group.device->workers();
    const ClientId client = state->group.client;
    workers.Enqueue(std::make_unique<GroupTurn>(std::move(state)), WorkerPool::Size::kTiny, client);
  }

  void Run() override {
    const absl::Time now = state_->counters.clock.Now();
    if (!std::exchange(state_->started, true)) {
      state_->place.Start(now);
      EngineCounters::Add(state_->counters.group_wait_ns, state_->place.waited());
    }
    const absl::Status status = CheckTimely(state_->group, now);
    const absl::Duration left = status.ok() ? state_->group.turn() : absl::ZeroDuration();
    if (left > absl::ZeroDuration()) {
      state_->place.SetTime(left);
      return Enqueue(std::move(state_));
    }
    if (!status.ok()) state_->counters.CountDrop(status.code());
    // Who hears of the end finds the place free.
    state_->place = Admission::Place();
    state_->group.done(status);
  }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace

void EnqueueGroup(CallGroup group, Admission::Place place, EngineCounters& counters) {
  GroupTurn::Enqueue(std::make_unique<GroupTurn::State>(
      GroupTurn::State{std::move(group), std::move(place), counters}));
}

}  // namespace opserve
