// Outputs that come in chunks, as the answers to one command.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <opserve/session.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/session/transfer.h"
#include "client/cpp/wire/asked_outputs.h"
#include "client/cpp/wire/session_answer.h"
#include "core/base/mutex.h"
#include "core/base/waiter.h"

namespace opserve::client {

// Gathers outputs, or hands them on. Memory for them is taken as it is planned, and is the system's
// until bytes come. Thread-safe: answers come on the transport's thread, while another waits.
class IncomingOutputs {
 public:
  // `sink` takes the bytes; where there is none they are gathered.
  explicit IncomingOutputs(OutputSink sink) : sink_(std::move(sink)) {}

  // Before the first answer, one of the two: what comes is known, or the first answer says it: one
  // output, of `shape` and as `asked` says. RESOURCE_EXHAUSTED for outputs of which more than
  // `max_bytes` would be gathered, or which find no room.
  absl::Status Expect(std::vector<PlannedOutput> outputs, int64_t max_bytes);
  void ExpectOne(Dims shape, AskedOutputs asked);
  void OnAnswer(SessionAnswer& answer);

  // Whether the command cannot succeed any more.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // The result, or why there is none: of the command, of the sink, INTERNAL for chunks that do not
  // fit the outputs. nullopt when it is not there by `deadline`; the sink is not called after that.
  std::optional<absl::StatusOr<ExecuteResult>> Wait(absl::Time deadline);

 private:
  struct Output {
    PlannedOutput plan;
    std::shared_ptr<std::byte> bytes;  // none with a sink
    Inflow inflow;
  };
  struct One {
    Dims shape;
    AskedOutputs asked;
  };

  absl::Status Add(std::vector<PlannedOutput> outputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Read(SessionAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Describe(const v1::ExecuteOutputs& outputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Receive(SessionAnswer& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<ExecuteResult> Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  OutputSink sink_ ABSL_GUARDED_BY(mutex_);
  std::optional<One> one_ ABSL_GUARDED_BY(mutex_);  // until the first answer said it
  std::deque<Output> outputs_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};
  Waiter<absl::StatusOr<ExecuteResult>> result_;
};

}  // namespace opserve::client
