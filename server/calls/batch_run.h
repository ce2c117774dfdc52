// The calls of one batch on an engine: what ExecuteBatch does, without gRPC's part of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "server/calls/batch_response.h"
#include "server/calls/planned_call.h"
#include "server/calls/shared_storages.h"
#include "server/codec/batch_request.h"
#include "server/counters/server_counters.h"

namespace opserve::server {

// Divides the bytes of the answer among the results. Each result has room for an error; the rest
// goes to the results that ask first.
class AnswerRoom {
 public:
  // 161002 naming `calls` for more than an answer of errors can hold.
  absl::Status Divide(size_t results, int64_t max_message_bytes);
  // RESOURCE_EXHAUSTED naming max_message_bytes for a result that does not fit.
  // Of those, `values_bytes` are values, which have a bound of their own.
  absl::Status Take(const OpCall& call, size_t result_bytes, size_t values_bytes);
  // Bytes of values in the answer, at most.
  size_t values_taken() const { return kMaxValuesBytes - values_left_; }

 private:
  int64_t max_message_bytes_ = 0;
  size_t left_ = 0;
  size_t values_left_ = kMaxValuesBytes;
};

// Call Read and then Run, each once. The object must live until `done` was called.
class BatchRun {
 public:
  // `regions` may be nullptr: there is no shared memory.
  BatchRun(Engine& engine, ServerCounters& counters, const RegionTable* regions,
           absl::Time deadline)
      : engine_(engine), counters_(counters), regions_(regions), deadline_(deadline) {}

  // The errors of the whole: ReadBatchRequest's, 161002 naming output_encoding or calls.
  absl::Status Read(ScannedMessage message, std::shared_ptr<const void> owner,
                    int64_t max_message_bytes);

  // An estimate of the host memory that the calls take until they are answered, without the
  // bytes of the request: parsed messages, plans, and errors of calls that fail.
  size_t host_bytes() const;

  // Runs a few small calls on this thread; many of them, and what would compute here for longer
  // than a turn, as a CallGroup on the workers of the first call's device; and large calls on the
  // workers of their devices. `done` is called once, on this thread or on a worker: with the answer
  // when all calls are over, or with an error if the group was refused or expired before any call
  // began, or Cancel was called. Calls are charged to `client`.
  void Run(ClientId client, absl::AnyInvocable<void(absl::StatusOr<WrittenMessage>)> done);

  // For use in `done`: how long the batch waited, and how long it ran, from the start of its first
  // call until now; and, if there is an answer, the number of calls and of calls that failed.
  CallTimes times() const;
  size_t calls() const { return calls_; }
  size_t failed_calls() const { return failed_calls_; }

  // Drops the calls that have not begun. Any thread.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  struct SeriesResults {
    std::shared_ptr<const PlannedCall> planned;
    SeriesOutputs outputs;
  };

  struct Result {
    std::shared_ptr<const PlannedCall> planned;
    HeldRegions regions;  // while the call uses them
    absl::StatusOr<Outputs> outputs = Outputs();
    CallTimes times;  // but for the batch's wait
    // Of a call in a series that succeeded, instead of `planned` and `outputs`.
    const SeriesResults* series = nullptr;
    size_t index = 0;  // in the series
  };

  // The calls as one piece of work for workers.
  CallGroup Group();
  // Starts calls for about `time`, by their estimates, and none after `end`.
  void StartCalls(absl::Duration time, std::chrono::steady_clock::time_point end);
  // About what the calls take that have not begun, once some have: on average as long as those.
  absl::Duration TimeLeft() const;
  // Starts the next call, or those next that can run as one series; about how long that took.
  absl::Duration StartNext(absl::Duration time);
  struct Series {
    size_t calls = 0;
    absl::Duration time;  // about what they take
  };
  // The next calls, from one on, that are alike and take about `time` together.
  Series NextSeries(const PlannedCall& planned, absl::Duration time) const;
  // Runs the next `count` calls; false when they must be started one by one.
  bool RunSeries(std::shared_ptr<const PlannedCall> planned, size_t count);
  // Ends the calls that have not begun.
  void EndGroup(const absl::Status& status);
  absl::StatusOr<OneShot> Prepare(size_t index);
  absl::Status TakeRoom(const PlannedCall& planned, const OneShot& shot);
  void EndCall(size_t index, absl::StatusOr<Outputs> outputs);
  void EndOne();
  void End();
  WrittenMessage Answer();

  Engine& engine_;
  ServerCounters& counters_;
  const RegionTable* const regions_;
  const absl::Time deadline_;
  ClientId client_ = ClientId::kNone;
  std::atomic<bool> cancelled_ = false;
  BatchRequest request_;
  v1::TensorEncoding encoding_ = v1::TENSOR_ENCODING_RAW;
  AnswerRoom room_;
  std::vector<std::shared_ptr<const PlannedCall>> shared_;  // of each distinct call, once planned
  std::vector<Result> results_;
  std::vector<std::unique_ptr<const SeriesResults>> series_;
  std::atomic<size_t> unfinished_ = 0;  // calls, and the loop that starts them
  size_t program_steps_ = 0;            // of all distinct calls
  size_t begun_ = 0;
  absl::Duration begun_time_;  // about what those take, here
  absl::Time read_;            // when Run was called
  absl::Duration wait_;        // from then to the first call's start
  size_t calls_ = 0;
  size_t failed_calls_ = 0;
  absl::AnyInvocable<void(absl::StatusOr<WrittenMessage>)> done_;
};

}  // namespace opserve::server
