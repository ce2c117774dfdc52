// What is known of one call: for its line in the log, its spans, and the list of slow calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/op_error.h"
#include "core/base/trace_context.h"

namespace opserve::server {

// When a call was where, by the server's clock. Times that were not noted are in the infinite past.
struct CallPhases {
  absl::Time begun = absl::InfinitePast();        // a handler has it
  absl::Time handed_over = absl::InfinitePast();  // read and planned: the engine has it
  absl::Duration queued;                          // from then until it ran
  absl::Duration executed;                        // while it ran
  absl::Time answered = absl::InfinitePast();     // its status is known, its answer made
  absl::Time ended = absl::InfinitePast();        // the transport is done with it
};

// A value, of a few hundred bytes: what of it comes from clients is cut to kMaxTextBytes.
struct CallRecord {
  static constexpr size_t kMaxTextBytes = 128;

  std::string_view method;  // "Execute"; lives forever
  bool is_session = false;
  bool is_inference = false;  // by the Open Inference Protocol
  std::string op;             // empty where there is none, or none is known
  std::string peer;           // as gRPC calls it: "ipv4:127.0.0.1:40000"
  int64_t calls = 0;          // of a batch; commands of a session
  int64_t failed_calls = 0;
  uint64_t command = 0;  // the id of a session's command, where it is about one
  size_t request_bytes = 0;
  size_t response_bytes = 0;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::optional<ErrorReason> reason;  // of a call that failed
  std::string parameter;              // likewise: of the call, as its client called it
  std::string fault;                  // of a fault of the server's or a device's, in words
  // A root of its trace has a parent_id of zeros.
  std::optional<TraceContext> trace;
  bool is_sampled = false;  // its spans are to be exported
  CallPhases phases;
  absl::Time ended_at;  // phases.ended, by the wall clock

  bool failed() const { return code != absl::StatusCode::kOk; }
};

// Puts into `record` what a status says. Not its message: that may quote elements of tensors,
// unless it tells of a fault that is not the client's.
void TakeStatus(const absl::Status& status, CallRecord& record);

// The first bytes of a text.
std::string Shortened(std::string_view text);

}  // namespace opserve::server
