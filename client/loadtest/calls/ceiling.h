// What a load reaches against a server that does nothing: no server looks faster than that.
#pragma once

#include <atomic>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/loadtest/calls/prepared_load.h"

namespace opserve::loadtest {

struct CeilingOptions {
  int in_flight = 1;  // messages
  absl::Duration warm_up;
  absl::Duration duration;
};

// Sends the load's messages, over as many connections, to an EchoServer that answers as the targets
// did: the calls a second that were served. Once the load has been measured, as it needs an answer
// of each entry (FAILED_PRECONDITION). CANCELLED once `stop` is true.
absl::StatusOr<double> MeasureCeiling(const PreparedLoad& load, const CeilingOptions& options,
                                      const std::atomic<bool>& stop);

}  // namespace opserve::loadtest
