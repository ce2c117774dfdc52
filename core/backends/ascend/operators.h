// How each operator's phase one is called: the one list of what this device can have.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/backends/ascend/call_objects.h"
#include "core/op/operator.h"

namespace opserve::ascend {

// Calls the operator's phase one, `function`, with the call's arguments in the vendor's order.
using PhaseOne = int32_t (*)(void* function, const CallObjects& call, uint64_t* workspace_bytes,
                             AclExecutor** executor);

// nullptr when there is no row for it.
PhaseOne FindPhaseOne(const Operator& op);

}  // namespace opserve::ascend
