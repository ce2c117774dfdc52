// What a server says on a session.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/session_info.h"
#include "core/base/fragments.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// Its name in errors.
inline constexpr std::string_view kSessionAnswer = "SessionResponse";

// An answer to a command, or a notice.
struct SessionAnswer {
  absl::Status status;          // what became of the command
  v1::SessionResponse message;  // without `raw`, unless it came in a group
  std::vector<Fragments> raw;   // valid as long as the message that was read, and its bytes
  bool last = true;             // nothing more comes for this command
  // Set by who takes the answer, where no sound server would have sent it: the session ends with
  // it.
  absl::Status objection;
};

// The answers in one message.
struct SessionMessage {
  absl::InlinedVector<SessionAnswer, 1> answers;
  v1::SessionResponse group;  // what the answers of a group point to
};

// INTERNAL, saying what is wrong, for bytes that are no SessionResponse, or that would take much
// more memory than one of a real server. The bulk bytes of one that came by itself are not copied.
absl::Status ReadSessionMessage(const Fragments& bytes, SessionMessage& message);

// INTERNAL for limits that leave no room for work: with less, each byte would take a message.
absl::StatusOr<SessionInfo> ReadSessionInfo(const v1::SessionInfo& message);

}  // namespace opserve::client
