#include "core/device/stream.h"

#include <atomic>
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
                    .want = "a stream without a failure since its last Synchronize",
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

// An asynchronous command from its start to its end: over when `start` returned and `finished` was
// called, in whatever order.
class Stream::Pending : public std::enable_shared_from_this<Pending> {
 public:
  Pending(std::shared_ptr<Stream> stream, uint64_t id, absl::AnyInvocable<void(absl::Status)> done)
      : stream_(std::move(stream)), id_(id), done_(std::move(done)) {}

  // Whether it is over already.
  bool Start(absl::AnyInvocable<void(AsyncCommand::Finished)> start) {
    start([ticket = std::make_unique<Ticket>(shared_from_this())](absl::Status status) mutable {
      if (ticket != nullptr) ticket->Redeem(std::move(status));
      ticket.reset();
    });
    start = nullptr;
    if (!IsLastHalf()) return false;
    End();
    return true;
  }

 private:
  // The one right, and duty, to finish the command.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() {
      Redeem(MakeError({.reason = ErrorReason::kInternal,
                        .op = {},
                        .parameter = "stream",
                        .want = "a command that finishes",
                        .got = "one that was forgotten"}));
    }

    void Redeem(absl::Status status) {
      if (pending_ != nullptr) std::exchange(pending_, nullptr)->Finish(std::move(status));
    }

   private:
    std::shared_ptr<Pending> pending_;
  };

  void Finish(absl::Status status) {
    status_ = std::move(status);
    if (!IsLastHalf()) return;
    End();
    stream_->GoOn();
  }

  // `start` and `finished` are a half each.
  bool IsLastHalf() { return half_over_.exchange(true); }

  void End() {
    stream_->EndCommand(status_, id_);
    if (done_) done_(std::move(status_));
  }

  const std::shared_ptr<Stream> stream_;
  const uint64_t id_;
  absl::AnyInvocable<void(absl::Status)> done_;
  std::atomic<bool> half_over_ = false;
  absl::Status status_;  // written by the one half, read by the last
};

std::shared_ptr<Stream> Stream::Create(WorkerPool& workers, const Clock& clock,
                                       OnFailure on_failure, ClientId client) {
  return std::shared_ptr<Stream>(new Stream(workers, clock, on_failure, client));
}

void Stream::Enqueue(Command command) { Push(std::move(command)); }
void Stream::Enqueue(AsyncCommand command) { Push(std::move(command)); }

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
  return !occupied_ && items_.empty();
}

bool Stream::IsQuick(const Item& item) {
  if (const auto* command = std::get_if<Command>(&item)) return command->is_quick;
  return std::holds_alternative<Barrier>(item) ||
         std::holds_alternative<std::shared_ptr<Marker>>(item);
}

void Stream::Push(Item item) {
  const bool quick = IsQuick(item);
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
  if (start && !quick) StartTurn();
  // What was pushed meanwhile is a worker's.
  if (start && quick && Step()) GoOn();
  if (late.has_value()) Drop(*std::move(late));
}

void Stream::StartTurn() {
  workers_.Enqueue(std::make_unique<Turn>(shared_from_this()), WorkerPool::Size::kAny, client_);
}

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
    occupied_ = false;
    if (items_.empty()) {
      busy_ = false;
      return false;
    }
    item = std::move(items_.front());
    items_.pop_front();
    occupied_ = !std::holds_alternative<Barrier>(item) &&
                !std::holds_alternative<std::shared_ptr<Marker>>(item);
  }
  if (const Gate* gate = std::get_if<Gate>(&item)) return PassGate(gate->marker);
  if (auto* command = std::get_if<Command>(&item)) {
    Run(std::move(*command));
  } else if (auto* async = std::get_if<AsyncCommand>(&item)) {
    return Start(std::move(*async));
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

absl::Status Stream::CheckGoesOn() const {
  MutexLock lock(mutex_);
  if (failure_.status.ok() || on_failure_ == OnFailure::kContinue) return absl::OkStatus();
  return NotRun(failure_);
}

void Stream::EndCommand(const absl::Status& status, uint64_t command) {
  MutexLock lock(mutex_);
  occupied_ = false;
  if (!status.ok() && failure_.status.ok()) failure_ = {Unshared(status), command};
}

void Stream::Run(Command command) {
  absl::Status status = CheckGoesOn();
  const bool runs = status.ok();
  if (runs) status = command.run();
  // What the command held is free when its caller hears of its end.
  command.run = nullptr;
  EndCommand(runs ? status : absl::OkStatus(), command.id);
  if (command.done) command.done(std::move(status));
}

bool Stream::Start(AsyncCommand command) {
  absl::Status status = CheckGoesOn();
  if (status.ok()) {
    const auto pending =
        std::make_shared<Pending>(shared_from_this(), command.id, std::move(command.done));
    return pending->Start(std::move(command.start));
  }
  command.start = nullptr;
  EndCommand(absl::OkStatus(), command.id);
  if (command.done) command.done(std::move(status));
  return true;
}

void Stream::GoOn() {
  {
    MutexLock lock(mutex_);
    if (items_.empty()) {
      busy_ = false;
      return;
    }
  }
  StartTurn();
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
  } else if (auto* async = std::get_if<AsyncCommand>(&item)) {
    async->start = nullptr;
    if (async->done) async->done(std::move(cancelled));
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
