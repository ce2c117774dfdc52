// Element-wise calls whose tensors go through the server in chunks.
#pragma once

#include <memory>

#include <opserve/session.h>

#include "absl/status/statusor.h"
#include "client/cpp/session/session_channel.h"

namespace opserve::client {

// Session::ExecuteChunked.
absl::StatusOr<ExecuteResult> ExecuteInChunks(SessionChannel& channel, const Call& call,
                                              ChunkedOptions options);

}  // namespace opserve::client
