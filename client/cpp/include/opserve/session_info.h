// What a session tells about itself, as plain values.
#pragma once

#include <cstdint>
#include <vector>

#include <opserve/schema.h>

namespace opserve::client {

// What the session may do. Limits are those of this session alone.
struct SessionInfo {
  int64_t memory_limit_bytes = 0;
  int64_t max_handles = 0;          // contexts, streams, events, buffers, executors, chunked calls
  int64_t max_queued_commands = 0;  // that are not over yet; more fail
  int64_t window_bytes = 0;         // uploads and answers that the server holds before it waits
  int64_t max_skew_bytes = 0;       // largest chunk of a chunked call
  int64_t recommended_chunk_bytes = 0;
  int64_t max_message_bytes = 0;
};

// Memory of a session, and of a context's device.
struct MemoryState {
  int64_t limit_bytes = 0;
  int64_t used_bytes = 0;
  int64_t peak_bytes = 0;  // the most that the session held
  MemoryInfo device;
};

// Phase one's answer to a device call.
struct ExecutorPlan {
  int64_t workspace_bytes = 0;
  // All outputs, in the order of the operator's schema. One that the call masks out has shape [0].
  std::vector<PlannedOutput> outputs;
};

}  // namespace opserve::client
