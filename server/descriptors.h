// File descriptors of this process: how many it may have, and what lies at the first three.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace opserve::server {

// Lets the process have as many descriptors as it may ever: their number.
int64_t RaiseDescriptorLimit();

// How many connections it can have at one time, with `descriptors` in all: each takes two. `wanted`
// > 0 is what --max-connections asks for, 161002 if that is more.
absl::StatusOr<int64_t> ConnectionsFor(int64_t descriptors, int64_t wanted);

}  // namespace opserve::server
