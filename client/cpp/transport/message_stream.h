// One bidirectional RPC, as messages out and messages in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/values/request.h"
#include "core/base/fragments.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace opserve::client {

struct AnswerRoom;

enum class Encryption : uint8_t { kNone, kTls };

// What an RPC is begun with.
struct RpcOptions {
  absl::Duration timeout = absl::InfiniteDuration();
  std::string traceparent = {};               // empty: none
  std::string token = {};                     // likewise
  Encryption encryption = Encryption::kNone;  // of the connection: for what errors say
  int tries = 0;  // of a unary call, at most; 0: as many as the connection makes
};

// OK for an empty traceparent and one that can be sent; 161002 naming `traceparent`.
absl::Status CheckTraceParent(const std::string& traceparent);

class MessageStream {
 public:
  // Called on threads of the transport. OnMessage and OnEnded come one at a time; OnWritten may
  // come beside them.
  class Listener {
   public:
    virtual ~Listener() = default;
    // `message` is valid during the call. The next message waits for it to return.
    virtual void OnMessage(const Fragments& message) = 0;
    // The transport took what Write gave it last, and may still read its views. Not called when
    // that failed: OnEnded follows then.
    virtual void OnWritten() = 0;
    // The last of the calls. OK when the server ended the RPC well.
    virtual void OnEnded(absl::Status status) = 0;
  };

  virtual ~MessageStream() = default;

  // Once, before all else.
  virtual void Start() = 0;
  // Every view of `message` must have an owner, which is kept for as long as the transport may read
  // the view. One Write or HalfClose at a time: none before OnWritten of the one before.
  virtual void Write(const Request& message) = 0;
  // Nothing is written any more.
  virtual void HalfClose() = 0;
  // Ends the RPC with CANCELLED, unless it ended before. Any thread, any time.
  virtual void Cancel() = 0;
};

// An RPC of `method`. Once started it keeps itself and `listener` until OnEnded has returned;
// `room` is kept as long.
std::shared_ptr<MessageStream> NewMessageStream(std::shared_ptr<grpc::Channel> channel,
                                                AnswerRoom room, std::string target,
                                                std::string method, RpcOptions options,
                                                std::shared_ptr<MessageStream::Listener> listener);

// Calls `task` on a thread of the transport, `delay` from now. Without a delay: for what must leave
// a thread that holds its locks.
void RunSoon(absl::AnyInvocable<void()> task, absl::Duration delay = absl::ZeroDuration());

}  // namespace opserve::client
