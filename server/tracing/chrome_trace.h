// Calls in the JSON of Chrome's tracing, which Perfetto reads.
#pragma once

#include <span>
#include <string>

#include "server/tracing/call_record.h"

namespace opserve::server {

// A JSON object, ASCII alone. Each call is an event with its phases below it; calls that overlap
// are in rows of their own.
std::string ChromeTrace(std::span<const CallRecord> calls);

}  // namespace opserve::server
