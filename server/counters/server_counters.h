// What the server counts as calls come and go. docs/statistics.md says what each number means.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/duration_buckets.h"
#include "core/base/op_error.h"
#include "server/counters/exemplars.h"
#include "server/counters/recent_errors.h"

namespace opserve::server {

// The unary methods of the API, and of the Open Inference Protocol.
enum class Method : uint8_t {
  kGetServerInfo,
  kListOperators,
  kListDevices,
  kGetWorkspaceSize,
  kExecute,
  kExecuteBatch,
  kGetStatistics,
  kServerLive,  // from here on those of the Open Inference Protocol
  kServerReady,
  kServerMetadata,
  kModelReady,
  kModelMetadata,
  kModelConfig,
  kModelInfer,
  kModelStatistics,
  kRepositoryIndex,
  kSystemSharedMemory,  // its three methods
  kUnsupported,         // methods of that protocol that the server does not have
};
inline constexpr size_t kNumMethods = 18;
inline constexpr size_t kNumStatusCodes = 17;  // OK to UNAUTHENTICATED

// "Execute"
std::string_view MethodName(Method method);

// Batches of up to 1, 2, 4, … 4096 calls.
inline constexpr size_t kNumBatchSizes = 13;

// Numbers to add to: a copy is the state of a moment. All of int64_t, so that it is an array, too.
struct ServerCounts {
  struct OfMethod {
    int64_t begun = 0;
    std::array<int64_t, kNumStatusCodes> ended = {};  // by status code
    int64_t request_bytes = 0;
    int64_t response_bytes = 0;
    // From when the message was there to the status, of those that ended: summed up, and how many
    // took how long.
    int64_t took_ns = 0;
    DurationCounts took = {};
  };
  std::array<OfMethod, kNumMethods> methods = {};
  // By reason: of calls, of calls inside batches, of session commands.
  std::array<int64_t, kNumErrorReasons> errors = {};
  int64_t batch_calls = 0;
  int64_t batch_failed_calls = 0;
  std::array<int64_t, kNumBatchSizes> batch_sizes = {};
  int64_t sessions_opened = 0;
  int64_t sessions_closed = 0;
  int64_t sessions_refused = 0;
  int64_t session_commands = 0;
  int64_t session_commands_begun = 0;
  int64_t session_commands_ended = 0;
  int64_t session_answers = 0;
  int64_t session_failed_commands = 0;
  int64_t session_request_bytes = 0;
  int64_t session_response_bytes = 0;

  struct Ended {
    int64_t calls = 0;
    int64_t failed = 0;
  };
  // Calls, and commands of sessions.
  Ended ended() const;
};

// Thread-safe and cheap: a thread adds to cache lines that few others use.
class ServerCounters {
 public:
  ServerCounters();
  ~ServerCounters();
  ServerCounters(const ServerCounters&) = delete;
  ServerCounters& operator=(const ServerCounters&) = delete;

  void CallBegan(Method method);
  struct Ended {
    absl::StatusCode code = absl::StatusCode::kOk;
    size_t request_bytes = 0;
    size_t response_bytes = 0;
    absl::Duration took;
  };
  void CallEnded(Method method, const Ended& ended);
  // What failed with it: a method's name, or what it is a part of.
  void Failed(std::string_view what, ErrorReason reason, const absl::Status& status);
  void BatchEnded(size_t calls, size_t failed_calls);
  void SessionOpened();
  void SessionClosed();
  void SessionRefused();
  // Those of one message.
  void CommandsCame(size_t commands, size_t bytes);
  // One of them was taken; and has been answered, or has no answer.
  void CommandBegan();
  void CommandEnded();
  void AnswersLeft(size_t answers, size_t bytes);
  void CommandFailed(ErrorReason reason, const absl::Status& status);

  // Each number by itself is one that was true since the call began.
  ServerCounts Sum() const;
  // Some of the latest failures.
  const RecentErrors& recent_errors() const { return recent_errors_; }
  // Some of the traced calls.
  Exemplars& exemplars() { return exemplars_; }
  const Exemplars& exemplars() const { return exemplars_; }

 private:
  struct Shard;
  // Adds to the number at `field` of a ServerCounts.
  void Add(const int64_t& field, int64_t count);
  Shard& OwnShard() const;

  static const ServerCounts kLayout;
  const std::unique_ptr<Shard[]> shards_;
  RecentErrors recent_errors_;
  Exemplars exemplars_{kNumMethods};
};

}  // namespace opserve::server
