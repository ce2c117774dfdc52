// What the server has counted, as a message.
#pragma once

#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "opserve/v1/statistics.pb.h"
#include "server/counters/server_counters.h"

namespace opserve::server {

v1::GetStatisticsResponse EncodeStatistics(const ServerCounts& counts, const Engine& engine,
                                           absl::Duration uptime);

}  // namespace opserve::server
