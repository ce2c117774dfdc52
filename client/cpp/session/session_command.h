// What the sources that send commands share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <opserve/client.h>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/session/session_channel.h"
#include "core/base/waiter.h"

namespace opserve::client {

// An object that the server holds for the session, and that is destroyed there when the last handle
// to it goes. Thread-safe.
class RemoteObject {
 public:
  enum class Kind : uint8_t { kContext, kStream, kEvent, kBuffer, kExecutor };

  // `context`: what the object is in; nullptr for contexts.
  RemoteObject(Kind kind, std::shared_ptr<SessionChannel> channel,
               std::shared_ptr<const RemoteObject> context);
  ~RemoteObject();
  RemoteObject(const RemoteObject&) = delete;
  RemoteObject& operator=(const RemoteObject&) = delete;

  // Once; later calls do nothing.
  void Destroy();

  SessionChannel& channel() const { return *channel_; }
  const std::shared_ptr<SessionChannel>& shared_channel() const { return channel_; }
  const std::shared_ptr<const RemoteObject>& context() const { return context_; }
  uint64_t id() const { return id_; }
  uint64_t context_id() const { return context_ == nullptr ? id_ : context_->id_; }

  // A command on this object, to be completed, whose failure the object's stream or context tells.
  // The server drops it after `timeout`.
  Command NewCommand(std::string meaning, absl::Duration timeout = absl::InfiniteDuration()) const;

 private:
  const Kind kind_;
  const std::shared_ptr<SessionChannel> channel_;
  const std::shared_ptr<const RemoteObject> context_;
  const uint64_t id_;
  std::atomic<bool> destroyed_{false};
};

// How long the command may take at the server.
void SetTimeout(absl::Duration timeout, Command& command);

// Sends a Synchronize. `done` gets the first failure that the server or TakeFailure tells.
void SendSynchronize(const std::shared_ptr<SessionChannel>& channel, Command command,
                     uint64_t stream, uint64_t context,
                     absl::AnyInvocable<void(absl::Status)> done);
// Waits for it; a failure that is told too late is kept.
absl::Status SynchronizeAndWait(const std::shared_ptr<SessionChannel>& channel, Command command,
                                uint64_t stream, uint64_t context, absl::Time deadline);

// An owner for memory that is somebody else's. `released` is called when the last copy goes, on any
// thread, which may hold locks of the transport: it must do no more than signal.
std::shared_ptr<const void> Lend(absl::AnyInvocable<void()> released);

// Sends a command and waits for its one answer, which read(answer) turns into a T.
template <typename T, typename Read>
absl::StatusOr<T> SendAndWait(SessionChannel& channel, Command command, const CallOptions& options,
                              Read read) {
  const std::string meaning = command.meaning;
  const Waiter<absl::StatusOr<T>> waiter;
  channel.Send(std::move(command), [waiter, read](SessionAnswer& answer) {
    waiter.Set(answer.status.ok() ? read(answer) : absl::StatusOr<T>(answer.status));
  });
  std::optional<absl::StatusOr<T>> result = waiter.Wait(channel.Deadline(options.timeout));
  return result.has_value() ? *std::move(result) : channel.TooLate(meaning);
}

}  // namespace opserve::client
