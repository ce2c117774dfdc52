// Engine::SubmitGroup.
#include <memory>
#include <utility>

#include "core/base/op_error.h"
#include "core/engine/engine.h"

namespace opserve {

// A turn of a group; makes the next one itself.
class Engine::GroupTurn final : public WorkerPool::Task {
 public:
  struct State {
    State(Engine& with, CallGroup calls, Admission::Place admitted)
        : engine(with), group(std::move(calls)), place(std::move(admitted)) {}
    Engine& engine;
    CallGroup group;
    Admission::Place place;
    bool started = false;
  };

  explicit GroupTurn(std::unique_ptr<State> state) : state_(std::move(state)) {}

  void Run() override {
    const absl::Time now = state_->engine.clock_.Now();
    if (!state_->started) Start(now);
    const absl::Status status = CheckTimely(now);
    if (status.ok() && state_->group.turn()) {
      WorkerPool& workers = state_->group.device->workers();
      const ClientId client = state_->group.client;
      return workers.Enqueue(std::make_unique<GroupTurn>(std::move(state_)),
                             WorkerPool::Size::kTiny, client);
    }
    if (!status.ok()) state_->engine.counters_.CountFailure(status.code());
    // Who hears of the end finds the place free.
    state_->place = Admission::Place();
    state_->group.done(status);
  }

 private:
  void Start(absl::Time now) {
    state_->started = true;
    state_->place.Start(now);
    EngineCounters::Add(state_->engine.counters_.queue_wait_ns,
                        absl::ToInt64Nanoseconds(state_->place.waited()));
  }

  absl::Status CheckTimely(absl::Time now) const {
    CallGroup& group = state_->group;
    if (group.cancelled && group.cancelled()) return MakeError({.reason = ErrorReason::kCancelled});
    if (now > group.deadline) return MakeError({.reason = ErrorReason::kDeadlineExceeded});
    return absl::OkStatus();
  }

  std::unique_ptr<State> state_;
};

void Engine::SubmitGroup(CallGroup group) {
  Admission::Refusal refusal = Admission::Refusal::kNone;
  absl::StatusOr<Admission::Place> place = AdmissionOf(*group.device)
                                               .Admit({.client = group.client,
                                                       .bytes = group.bytes,
                                                       .time = group.time,
                                                       .deadline = group.deadline,
                                                       .now = clock_.Now()},
                                                      refusal);
  counters_.CountRefusal(refusal);
  if (!place.ok()) return group.done(place.status());
  WorkerPool& workers = group.device->workers();
  const ClientId client = group.client;
  workers.Enqueue(std::make_unique<GroupTurn>(std::make_unique<GroupTurn::State>(
                      *this, std::move(group), *std::move(place))),
                  WorkerPool::Size::kTiny, client);
}

}  // namespace opserve
