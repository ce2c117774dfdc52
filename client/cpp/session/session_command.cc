#include "client/cpp/session/session_command.h"

#include <algorithm>

namespace opserve::client {

RemoteObject::RemoteObject(Kind kind, std::shared_ptr<SessionChannel> channel,
                           std::shared_ptr<const RemoteObject> context)
    : kind_(kind),
      channel_(std::move(channel)),
      context_(std::move(context)),
      id_(channel_->NewObject()) {}

RemoteObject::~RemoteObject() { Destroy(); }

void RemoteObject::Destroy() {
  if (destroyed_.exchange(true, std::memory_order_acq_rel)) return;
  Command command;
  switch (kind_) {
    case Kind::kContext:
      command.message.mutable_destroy_context()->set_context(id_);
      break;
    case Kind::kStream:
      command.message.mutable_destroy_stream()->set_stream(id_);
      break;
    case Kind::kEvent:
      command.message.mutable_destroy_event()->set_event(id_);
      break;
    case Kind::kBuffer:
      command.message.mutable_free()->set_buffer(id_);
      break;
    case Kind::kExecutor:
      command.message.mutable_destroy_executor()->set_executor(id_);
      break;
  }
  channel_->Send(std::move(command));
  channel_->Forget(id_);
}

Command RemoteObject::NewCommand(std::string meaning, absl::Duration timeout) const {
  Command command;
  SetTimeout(timeout, command);
  command.meaning = std::move(meaning);
  command.stream = kind_ == Kind::kStream ? id_ : 0;
  command.context = context_id();
  return command;
}

void SetTimeout(absl::Duration timeout, Command& command) {
  if (timeout == absl::InfiniteDuration()) return;
  // One that has passed is not none.
  command.message.set_timeout_ns(std::max<int64_t>(1, absl::ToInt64Nanoseconds(timeout)));
}

void SendSynchronize(const std::shared_ptr<SessionChannel>& channel, Command command,
                     uint64_t stream, uint64_t context,
                     absl::AnyInvocable<void(absl::Status)> done) {
  channel->Send(std::move(command), [=, done = std::move(done)](SessionAnswer& answer) mutable {
    const absl::Status kept = channel->TakeFailure(stream, context);
    const uint64_t failed = answer.message.failed_command();
    // Where Synchronize itself failed, what was kept says why there is nothing to wait for.
    const bool tells = !answer.status.ok() && (failed != 0 || kept.ok());
    done(tells ? channel->Explain(answer.status, failed) : kept);
  });
}

absl::Status SynchronizeAndWait(const std::shared_ptr<SessionChannel>& channel, Command command,
                                uint64_t stream, uint64_t context, absl::Time deadline) {
  enum : int { kAwaited, kAnswered, kGivenUp };
  const auto state = std::make_shared<std::atomic<int>>(kAwaited);
  const Waiter<absl::Status> waiter;
  SendSynchronize(channel, std::move(command), stream, context, [=](absl::Status status) {
    // The server told it once: who synchronizes next must hear it.
    if (state->exchange(kAnswered) == kGivenUp) {
      if (!status.ok()) channel->Keep(status, stream, context);
    } else {
      waiter.Set(std::move(status));
    }
  });
  std::optional<absl::Status> status = waiter.Wait(deadline);
  if (status.has_value()) return *std::move(status);
  if (state->exchange(kGivenUp) == kAwaited) return channel->TooLate("Synchronize");
  return *waiter.Wait(absl::InfiniteFuture());
}

std::shared_ptr<const void> Lend(absl::AnyInvocable<void()> released) {
  auto* task = new absl::AnyInvocable<void()>(std::move(released));
  return {static_cast<const void*>(task), [task](const void* /*same*/) {
            (*task)();
            delete task;
          }};
}

}  // namespace opserve::client
