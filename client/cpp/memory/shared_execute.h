// Execute with large tensors in shared memory, and without where that is refused.
#pragma once

#include <functional>
#include <memory>

#include <opserve/call.h>
#include <opserve/client.h>

#include "client/cpp/memory/local_memory.h"

namespace opserve::client {

// Starts an Execute that is tried `tries` times at most.
using ExecuteStarter = std::function<CallHandle(const Call& call, const CallOptions& options,
                                                int tries, Done<ExecuteResult> done)>;

// Executes `call`, which is tried `tries` times at most in all, but for one that the server refuses
// for what it says of shared memory: that is sent again, with its bytes. A call that succeeds is
// as Execute's result; outputs that lie in shared memory keep it.
CallHandle ExecuteShared(std::shared_ptr<LocalMemory> memory, ExecuteStarter start, int tries,
                         const Call& call, const CallOptions& options, Done<ExecuteResult> done);

}  // namespace opserve::client
