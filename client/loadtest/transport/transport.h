// How a load reaches a server. Loads know nothing of gRPC: it is behind this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <opserve/client.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/fragments.h"

namespace opserve::loadtest {

// A message's bytes: some that are copied, then some that are not and must outlive the connection.
struct Message {
  std::string head;
  std::span<const std::string_view> tail;

  size_t size_bytes() const;
};

// A message that came. Valid during the callback that shows it.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual size_t size_bytes() const = 0;
  // Where they are. Valid as long as the answer.
  virtual const Fragments& bytes() const = 0;
  // A copy of the first `count` bytes, or of all when there are fewer.
  std::string Prefix(size_t count) const;
};

// What a stream sends, and who hears what comes. The transport's threads call it: NextMessage by
// one at a time, OnAnswer by one at a time, the two side by side.
class StreamHandler {
 public:
  enum class Next { kMessage, kMessageAndMore, kNothingNow, kEnd };

  virtual ~StreamHandler() = default;
  // Asked after each write and each Wake. kMessageAndMore says that the next is ready too; kEnd
  // half-closes the stream.
  virtual Next NextMessage(Message& message) = 0;
  virtual void OnAnswer(const Answer& answer) = 0;
  // Once, last.
  virtual void OnEnd(const absl::Status& status) = 0;
};

class Stream {
 public:
  // Cancels what is not over, waits for OnEnd.
  virtual ~Stream() = default;
  // NextMessage has something to send. Thread-safe.
  virtual void Wake() = 0;
};

// Called once, on a thread of the transport; it may start another call. The answer is empty unless
// the status is OK.
using CallDone = std::function<void(const absl::Status& status, const Answer& answer)>;

// Thread-safe.
class Connection {
 public:
  virtual ~Connection() = default;
  // `method` as in "/package.Service/Method". Nothing outlasts `timeout`.
  virtual void Call(const std::string& method, const Message& message, absl::Duration timeout,
                    CallDone done) = 0;
  virtual std::unique_ptr<Stream> Open(const std::string& method, absl::Duration timeout,
                                       StreamHandler& handler) = 0;
};

// A connection of its own to host:port or unix:path. UNAVAILABLE when there is none in time. An
// answer of more than `options.max_answer_bytes` ends its call with RESOURCE_EXHAUSTED; a negative
// number is no bound. Errors of calls carry what the server said of them (GetErrorDetail).
absl::StatusOr<std::unique_ptr<Connection>> Connect(const std::string& target,
                                                    absl::Duration timeout,
                                                    const client::ConnectOptions& options);

}  // namespace opserve::loadtest
