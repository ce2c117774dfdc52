// A server of the Session RPC whose answers a test scripts: in process, on a unix socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <opserve/session.h>

#include "core/base/mutex.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// A command, whose raw_index counts its own entries.
struct ReceivedCommand {
  v1::Command message;
  std::vector<std::string> raw;
};

// Sends what a server says.
class SendAnswer {
 public:
  using Write = std::function<void(const v1::SessionResponse&)>;

  // `add` takes messages of one answer, which may go with others.
  SendAnswer(Write write, Write add) : write_(std::move(write)), add_(std::move(add)) {}

  // A whole message, as it is.
  void operator()(const v1::SessionResponse& message) const { write_(message); }
  // An answer, whose raw_index counts `raw`.
  void operator()(const v1::Answer& answer, const std::vector<std::string>& raw = {}) const;

 private:
  const Write write_;
  const Write add_;
};

// What the fake does with one command, on the session's thread. Any other code than 0 ends the RPC
// with it.
using OnCommand = std::function<int(const ReceivedCommand& command, const SendAnswer& send)>;

// Answers every command that is not quiet, with results that say nothing.
int AnswerAll(const ReceivedCommand& command, const SendAnswer& send);
// An answer to `command`, with nothing in it.
v1::Answer AnswerTo(const ReceivedCommand& command);
// An error: 161002 of parameter "beta".
v1::Answer BadBetaOf(const ReceivedCommand& command);

// Chunks of 1000 bytes, messages of 1 MiB.
v1::SessionInfo SmallLimits();

// What a session begins with.
enum class FirstWord : uint8_t { kInfo, kNone };

class FakeSessionServer {
 public:
  explicit FakeSessionServer(OnCommand on_command = AnswerAll,
                             const v1::SessionInfo& info = SmallLimits(),
                             FirstWord first_word = FirstWord::kInfo);
  // Cuts all sessions.
  ~FakeSessionServer();

  const std::string& target() const { return target_; }

  // All commands so far.
  std::vector<ReceivedCommand> received() const;
  // The commands of one kind.
  std::vector<ReceivedCommand> received(v1::Command::CommandCase kind) const;
  // Messages that held several commands.
  int64_t groups() const;
  // Waits until `done(commands)`.
  void WaitUntil(const std::function<bool(const std::vector<ReceivedCommand>&)>& done) const;

 private:
  class Service;

  std::string target_;
  std::unique_ptr<Service> service_;
};

// A session on it.
Session Open(const FakeSessionServer& server, SessionOptions options = {});

}  // namespace opserve::client
