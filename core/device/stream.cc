#include "core/device/stream.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Commands that a stream runs before others may have its worker.
constexpr int kCommandsOfTurn = 16;

absl::Status NotRun(const Stream::Failure& failure) {
  return MakeError({.reason = ErrorReason::kStreamFailed,
                    .op = {},
                    .parameter = "stream",
                    .want = "a stream without a failure that nobody was told of",
                    .got = absl::StrCat("one on which command ", failure.command,
                                        " failed: ", failure.status.message())});
}

}  // namespace

// A stream's time on a worker.
class Stream::Turn final : public WorkerPool::Task {
 public:
  explicit Turn(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  void Run() override { stream_->TakeTurn(); }

 private:
  const std::shared_ptr<Stream> stream_;
};

std::shared_ptr<Stream> Stream::Create(WorkerPool& workers, const Clock& clock,
                                       OnFailure on_failure) {
  return std::shared_ptr<Stream>(new Stream(workers, clock, on_failure));
}

void Stream::Enqueue(Command command) { Push(std::move(command)); }

void Stream::Record(Event& event) {
  auto marker = std::make_shared<Marker>();
  Push(marker);
  event.Publish(std::move(marker));
}

absl::Status Stream::WaitFor(const Event& event) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Marker> marker, event.Latest());
  Push(Gate{std::move(marker)});
  return absl::OkStatus();
}

void Stream::Synchronize(absl::AnyInvocable<void(Failure)> done) { Push(Barrier{std::move(done)}); }

bool Stream::IsIdle() const {
  MutexLock lock(mutex_);
  return !busy_ && items_.empty();
}

void Stream::Push(Item item) {
  bool start = false;
  std::optional<Item> late;
  {
    MutexLock lock(mutex_);
    if (abandoned_) {
      late = std::move(item);
    } else {
      items_.push_back(std::move(item));
      start = !std::exchange(busy_, true);
    }
  }
  if (start) StartTurn();
  if (late.has_value()) Drop(*std::move(late));
}

void Stream::StartTurn() { workers_.Enqueue(std::make_unique<Turn>(shared_from_this())); }

void Stream::TakeTurn() {
  for (int i = 0; i < kCommandsOfTurn; ++i) {
    if (!Step()) return;
  }
  StartTurn();
}

bool Stream::Step() {
  Item item;
  {
    MutexLock lock(mutex_);
    if (items_.empty()) {
      busy_ = false;
      return false;
    }
    item = std::move(items_.front());
    items_.pop_front();
  }
  if (const Gate* gate = std::get_if<Gate>(&item)) return PassGate(gate->marker);
  if (auto* command = std::get_if<Command>(&item)) {
    Run(std::move(*command));
  } else if (auto* barrier = std::get_if<Barrier>(&item)) {
    Tell(std::move(*barrier));
  } else {
    std::get<std::shared_ptr<Marker>>(item)->Reach(clock_.Now());
  }
  return true;
}

bool Stream::PassGate(const std::shared_ptr<Marker>& marker) {
  if (marker->reached()) return true;
  // The next turn is the marker's to start; until then the stream counts as busy.
  marker->OnReached([self = shared_from_this()] { self->StartTurn(); });
  return false;
}

void Stream::Run(Command command) {
  absl::Status status;
  {
    MutexLock lock(mutex_);
    if (!failure_.status.ok() && on_failure_ == OnFailure::kStop) status = NotRun(failure_);
  }
  if (status.ok()) {
    status = command.run();
    MutexLock lock(mutex_);
    if (!status.ok() && failure_.status.ok()) failure_ = {Unshared(status), command.id};
  }
  // What the command held is free when its caller hears of its end.
  command.run = nullptr;
  if (command.done) command.done(std::move(status));
}

void Stream::Tell(Barrier barrier) {
  Failure failure;
  {
    MutexLock lock(mutex_);
    failure = std::exchange(failure_, Failure());
  }
  if (barrier.done) barrier.done(std::move(failure));
}

void Stream::Drop(Item item) {
  absl::Status cancelled = MakeError({.reason = ErrorReason::kCancelled});
  if (auto* command = std::get_if<Command>(&item)) {
    command->run = nullptr;
    if (command->done) command->done(std::move(cancelled));
  } else if (auto* barrier = std::get_if<Barrier>(&item)) {
    if (barrier->done) barrier->done({std::move(cancelled), 0});
  } else if (auto* marker = std::get_if<std::shared_ptr<Marker>>(&item)) {
    (*marker)->Reach(clock_.Now());
  }
}

void Stream::Abandon() {
  std::deque<Item> dropped;
  {
    MutexLock lock(mutex_);
    abandoned_ = true;
    dropped.swap(items_);
  }
  for (Item& item : dropped) Drop(std::move(item));
}

}  // namespace opserve
