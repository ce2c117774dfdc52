// Execute with large tensors in shared memory, and without where that is refused.
#pragma once

#include <functional>
#include <memory>

#include <opserve/call.h>
#include <opserve/client.h>

#include "client/cpp/memory/local_memory.h"

namespace opserve::client {

// Starts an Execute that is tried `tries` times at most; 0: as often as the connection tries one.
using ExecuteStarter = std::function<CallHandle(const Call& call, const CallOptions& options,
                                                int tries, Done<ExecuteResult> done)>;

// Executes `call`, which is tried in all as often as `connection` tries one, but for one that the
// server refuses for what it says of shared memory: that is sent again, with its bytes. A call that
// succeeds is as Execute's result; outputs that lie in shared memory keep it. `deadline` is when
// the timeout of `options` is over, part of which may have passed.
CallHandle ExecuteShared(std::shared_ptr<LocalMemory> memory, ExecuteStarter start,
                         const Connection& connection, const Call& call, const CallOptions& options,
                         absl::Time deadline, Done<ExecuteResult> done);

}  // namespace opserve::client
