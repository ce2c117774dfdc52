// A session of its own for the messages of a load.
#pragma once

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "client/loadtest/calls/expected.h"
#include "client/loadtest/calls/work.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/transport/transport.h"

namespace opserve::loadtest {

inline constexpr const char* kSessionMethod = "/opserve.v1.SessionService/Session";

// Each message of the loop is an Execute command without a stream; those that wait go together. The
// session lives for `lifetime` at most. `works`, what is expected of each, and `sampling` outlive
// it.
std::unique_ptr<Lane> MakeSessionLane(std::unique_ptr<Connection> connection,
                                      const std::vector<Work>& works,
                                      const std::vector<Expected>& expected, Sampling& sampling,
                                      absl::Duration lifetime);

}  // namespace opserve::loadtest
