// Phase two of a one-shot call. Called by the engine only.
#pragma once

#include "core/base/clock.h"
#include "core/engine/engine.h"

namespace opserve {

// Drops a call that is cancelled, or expired at `now`; else checks, leases, gathers, executes. Does
// not call `done`.
absl::StatusOr<Outputs> RunOneShot(OneShot& shot, absl::Time now, const Clock& clock);

}  // namespace opserve
