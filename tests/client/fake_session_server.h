// A server of the Session RPC whose answers a test scripts: in process, on a unix socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "client/cpp/session.h"
#include "core/base/mutex.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

using SendAnswer = std::function<void(v1::SessionResponse)>;
// What the fake does with one command, on the session's thread. Any other code than 0 ends the RPC
// with it.
using OnCommand = std::function<int(const v1::SessionRequest& request, const SendAnswer& send)>;

// Answers every command that is not quiet, with results that say nothing.
int AnswerAll(const v1::SessionRequest& request, const SendAnswer& send);
// An answer to `request`, with nothing in it.
v1::SessionResponse AnswerTo(const v1::SessionRequest& request);
// An error: 161002 of parameter "beta".
v1::SessionResponse BadBetaOf(const v1::SessionRequest& request);

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
  std::vector<v1::SessionRequest> received() const;
  // Messages that held several commands.
  int64_t groups() const;
  // The commands of one kind.
  std::vector<v1::SessionRequest> received(v1::SessionRequest::CommandCase kind) const;
  // Waits until `done(commands)`.
  void WaitUntil(const std::function<bool(const std::vector<v1::SessionRequest>&)>& done) const;

 private:
  class Service;

  std::string target_;
  std::unique_ptr<Service> service_;
};

// A session on it.
Session Open(const FakeSessionServer& server, SessionOptions options = {});

}  // namespace opserve::client
