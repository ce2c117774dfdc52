// Phase two of a one-shot call. Called by the engine only.
#pragma once

#include "core/base/clock.h"
#include "core/engine/engine.h"

namespace opserve {

// Drops an expired or cancelled call; else checks, leases, gathers, executes. Calls `done`, exactly
// once, in any case.
void RunOneShot(OneShot shot, const Clock& clock);

}  // namespace opserve
