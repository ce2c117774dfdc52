// How each operator's phase one is called.
#pragma once

#include <cstdint>

#include "core/backends/ascend/call_objects.h"
#include "core/op/operator.h"

namespace opserve::ascend {

// Calls the operator's phase one, `function`, with the call's arguments in the vendor's order.
using PhaseOne = int32_t (*)(void* function, const CallObjects& call, uint64_t* workspace_bytes,
                             AclExecutor** executor);

PhaseOne PhaseOneOf(const Operator& op);

}  // namespace opserve::ascend
