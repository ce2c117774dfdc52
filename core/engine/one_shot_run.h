// Phase two of a one-shot call. Called by the engine only.
#pragma once

#include <cstddef>

#include "core/base/clock.h"
#include "core/engine/engine.h"

namespace opserve {

// Whether the call runs on a copy of a storage that would otherwise be used where it lies: others
// may change it, and its elements decide (TensorParam::decides).
bool NeedsOwnCopy(const OneShot& shot, size_t storage);

// Drops a call that is cancelled, or expired at `now`; else checks, leases, gathers, executes. Does
// not call `done`.
absl::StatusOr<Outputs> RunOneShot(OneShot& shot, absl::Time now, const Clock& clock);

}  // namespace opserve
