// Phase two of a one-shot call. Called by the engine only.
#pragma once

#include <cstddef>

#include "core/base/clock.h"
#include "core/engine/engine.h"

namespace opserve {

// Whether the call runs on a copy of a storage that would otherwise be used where it lies: others
// may change it, and its elements decide (TensorParam::decides).
bool NeedsOwnCopy(const OneShot& shot, size_t storage);

// Drops an expired or cancelled call; else checks, leases, gathers, executes. Calls `done`, exactly
// once, in any case.
void RunOneShot(OneShot shot, const Clock& clock);

}  // namespace opserve
