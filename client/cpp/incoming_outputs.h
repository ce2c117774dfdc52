// Outputs that come in chunks.
#pragma once

#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/session.h"
#include "client/cpp/session_answer.h"
#include "client/cpp/transfer.h"

namespace opserve::client {

// Gathers outputs, or hands them on. Not thread-safe.
class IncomingOutputs {
 public:
  // `sink` takes the bytes; where there is none they are gathered.
  explicit IncomingOutputs(OutputSink sink) : sink_(std::move(sink)) {}

  // Once, before the first chunk.
  void Expect(std::vector<PlannedOutput> outputs);
  // INTERNAL for a chunk that was not to come; or what the sink says.
  absl::Status Receive(const SessionAnswer& chunk);
  // Once, after the last chunk. INTERNAL when bytes are missing.
  absl::StatusOr<ExecuteResult> Finish();

 private:
  struct Output {
    PlannedOutput plan;
    std::shared_ptr<std::byte> bytes;  // none with a sink
    Inflow inflow;
  };

  OutputSink sink_;
  std::deque<Output> outputs_;
};

}  // namespace opserve::client
