// A Session RPC of a real server, one message at a time. Hides gRPC, whose headers are slow to
// compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "opserve/v1/session.pb.h"
#include "tests/server/test_server.h"

namespace opserve::testing {

// On a connection of its own. The destructor cancels the RPC if it is not over.
class SessionClient {
 public:
  explicit SessionClient(const std::string& address, absl::Duration timeout = absl::Seconds(120));
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;
  SessionClient& operator=(const SessionClient&) = delete;

  // In protobuf's text format, with the next id where it has none. Waits until the transport took
  // it; false when the session is over.
  bool Send(std::string_view command, const std::vector<std::string>& raw = {});
  bool Send(v1::Command command, const std::vector<std::string>& raw = {});
  bool SendBytes(const std::string& message);
  // The id of the command that was sent last.
  uint64_t last_id() const;
  // The same, without waiting; only one at a time, and no other Send after it.
  void StartSending(const std::string& message);

  // Waits for the next answer; nullopt when the session is over.
  std::optional<v1::Answer> Receive();
  // In how many messages the answers came.
  int messages() const;
  // The raw entries of the answer that Receive gave last, in the order in which it names them.
  const std::vector<std::string>& raw() const;
  // Waits for the last answer to `id`, drops all others; an answer without id when there is none.
  v1::Answer Await(uint64_t id);
  // Send and Await.
  v1::Answer Do(std::string_view command, const std::vector<std::string>& raw = {});

  void HalfClose();
  void Cancel();
  // Drops what comes until the session is over: how it ended.
  Outcome End();
  // The connection breaks without a word of the RPC's.
  void Vanish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opserve::testing
