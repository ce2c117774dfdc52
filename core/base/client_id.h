// The client that work and memory are charged to, so that no client takes everything.
#pragma once

#include <cstdint>

namespace opserve {

// kNone is this process itself, to which no share applies.
enum class ClientId : uint64_t { kNone = 0 };

}  // namespace opserve
