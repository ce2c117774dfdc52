// A Session on an Engine without a transport: the test is the client and the network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "server/session/session.h"

namespace opserve::testing {

// What became of a command: its answers in order, and the raw entries of each. The last has `more`
// unset.
struct Reply {
  std::vector<v1::Answer> answers;
  std::vector<std::vector<std::string>> raw;

  const v1::Answer& last() const { return answers.back(); }
  const std::vector<std::string>& last_raw() const { return raw.back(); }
  bool ok() const { return !last().has_error(); }
  const std::string& status() const { return last().error().message(); }
  // The error: "INVALID_PARAMETER", …; empty where there is none.
  std::string reason() const;
  // "operator", "parameter", "want", "got", "code".
  std::string part(const char* name) const;
  // The chunks' bytes of `output`, one after the other; the test fails when one is out of order.
  std::string bytes(std::string_view output = "") const;
};

// Commands are in protobuf's text format: "create_stream { stream: 1 context: 1 }". Everything
// happens on the test's thread, but for the work on the device.
class SessionHarness {
 public:
  // Takes the first answer, SessionInfo.
  SessionHarness(Engine& engine, const server::SessionLimits& limits,
                 const Clock& clock = Clock::Real());
  // Ends the session, when ExpectNothingLeft was not called.
  ~SessionHarness();
  SessionHarness(const SessionHarness&) = delete;
  SessionHarness& operator=(const SessionHarness&) = delete;

  const v1::SessionInfo& info() const { return info_; }

  // ---- as the client ----

  // From now on each entry of `raw` lies in pieces of so many bytes, no longer in two.
  void CutEntries(size_t piece_bytes) { piece_bytes_ = piece_bytes; }
  // Sends it, whatever the window says, and returns its id: the next one where it has none.
  uint64_t Send(std::string_view command, const std::vector<std::string>& raw = {});
  uint64_t Send(v1::Command command, const std::vector<std::string>& raw = {});
  // What the session says to it: an error would end the session.
  absl::Status Take(const v1::Command& command, const std::vector<std::string>& raw = {});
  // Waits for the last answer to it; takes all others on the way.
  Reply Await(uint64_t id);
  // Both; the command must succeed.
  Reply Do(std::string_view command, const std::vector<std::string>& raw = {});
  Reply Do(const v1::Command& command, const std::vector<std::string>& raw = {});
  // Both; the command must fail with this reason, naming this parameter.
  // `reason` may be an aclnn code, which several reasons have.
  Reply Refuse(std::string_view command, std::string_view reason, std::string_view parameter,
               const std::vector<std::string>& raw = {});
  Reply Refuse(const v1::Command& command, std::string_view reason, std::string_view parameter,
               const std::vector<std::string>& raw = {});
  // Notices (0), and answers to commands that were taken so far and not awaited.
  const std::map<uint64_t, Reply>& answers() const { return answers_; }
  void HalfClose() { session_->EndOfCommands(); }
  // The client is gone.
  void Cut() { session_->Close(); }

  // ---- as the network ----

  // Takes all answers that are there; the client has them then.
  void TakeAnswers();
  // Takes one answer; it counts as being sent until EndSending. False when there is none.
  bool BeginSending();
  void EndSending();
  bool MayRead() const { return flow_->MayRead(); }
  // Waits until the condition, which is asked whenever the session moved, is true.
  template <typename Condition>
  void AwaitThat(Condition condition);
  // Takes answers until the server would read again.
  void AwaitRoom();
  // Takes answers until nothing is under way.
  void AwaitIdle();
  // Takes answers until no pool of the engine has lent anything: what ran has ended.
  void AwaitEmptyPools();

  server::Session& session() { return *session_; }
  server::Flow& flow() { return *flow_; }
  // Of this session alone.
  server::HostMemory& host_memory() { return *host_memory_; }
  const server::OpenStreams& open_streams() const { return open_streams_; }
  int64_t commands_in_flight() const {
    const server::ServerCounts counts = counters_.Sum();
    return counts.session_commands_begun - counts.session_commands_ended;
  }

  // Ends the session: the devices' pools are empty then, no host memory is taken, and nothing holds
  // on to its flow. Waits for what still runs.
  void ExpectNothingLeft();

 private:
  struct Bell;

  void Keep(server::Answer answer);

  Engine& engine_;
  server::PlanCache plans_;
  server::ServerCounters counters_;
  server::OpenStreams open_streams_;
  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<server::HostMemory> host_memory_;
  std::shared_ptr<server::Flow> flow_;
  std::unique_ptr<server::Session> session_;
  std::optional<int64_t> sending_;
  v1::SessionInfo info_;
  size_t piece_bytes_ = 0;
  uint64_t last_id_ = 0;
  std::map<uint64_t, Reply> answers_;
  std::set<uint64_t> answered_;  // commands whose last answer came
};

// Rings when the session has something for the transport. Counts, so that no ring is missed.
struct SessionHarness::Bell {
  void Ring();
  int64_t rings() const;
  // Until there were more than `rings`; the test fails after a minute.
  bool AwaitMoreThan(int64_t rings);

  mutable Mutex mutex;
  CondVar changed;
  int64_t count ABSL_GUARDED_BY(mutex) = 0;
};

template <typename Condition>
void SessionHarness::AwaitThat(Condition condition) {
  for (;;) {
    const int64_t rings = bell_->rings();
    if (condition()) return;
    if (!bell_->AwaitMoreThan(rings)) return;
  }
}

// `count` raw bytes that look like noise.
std::string Noise(size_t count, uint64_t seed);

}  // namespace opserve::testing
