// What a server says on a session.
#pragma once

#include <string_view>
#include <vector>

#include <opserve/session_info.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// Its name in errors.
inline constexpr std::string_view kSessionAnswer = "SessionResponse";

// An answer to a command, or a notice.
struct SessionAnswer {
  absl::Status status;         // what became of the command
  v1::Answer message;          // its raw_index counts `raw`
  std::vector<Fragments> raw;  // all that it uses; valid as long as the bytes that were read
  bool last = true;            // nothing more comes for this command
  // Set by who takes the answer, where no sound server would have sent it: the session ends with
  // it.
  absl::Status objection;
};

// The answers in one message, whose bulk bytes are not copied. INTERNAL, saying what is wrong, for
// bytes that are no SessionResponse, or that would take much more memory than one of a real server;
// for raw entries that are not there, or that not exactly one answer uses.
absl::StatusOr<std::vector<SessionAnswer>> ReadSessionAnswers(const Fragments& bytes);

// INTERNAL for limits that leave no room for work: with less, each byte would take a message.
absl::StatusOr<SessionInfo> ReadSessionInfo(const v1::SessionInfo& message);

}  // namespace opserve::client
