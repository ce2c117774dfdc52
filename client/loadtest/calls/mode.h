// The ways in which a load's calls can travel.
#pragma once

#include <cstdint>

namespace opserve::loadtest {

enum class Mode : uint8_t {
  kUnary,    // Execute
  kBatch,    // ExecuteBatch
  kSession,  // Execute commands on a session, as many in a message as wait
  kShared,   // Execute on memory that is shared with the server
};

}  // namespace opserve::loadtest
