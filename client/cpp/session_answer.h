// What a server says on a session.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "opserve/v1/session.pb.h"

namespace opserve::client {

// An answer to a command, or a notice.
struct SessionAnswer {
  absl::Status status;          // what became of the command
  v1::SessionResponse message;  // without `raw`
  std::vector<Fragments> raw;   // valid as long as the message that was read
  bool last = true;             // nothing more comes for this command
};

// INTERNAL, saying what is wrong, for bytes that are no SessionResponse. Bulk bytes are not copied.
absl::Status ReadSessionAnswer(const Fragments& bytes, SessionAnswer& answer);

}  // namespace opserve::client
