// Work that would block a network thread for too long.
#pragma once

#include "absl/functional/any_invocable.h"
#include "core/base/client_id.h"
#include "core/engine/engine.h"

namespace opserve::server {

// Runs `work` on a worker of the engine's first device, in the client's turn.
void RunOnWorker(Engine& engine, ClientId client, absl::AnyInvocable<void()> work);

}  // namespace opserve::server
