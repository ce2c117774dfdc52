// What gRPC, protobuf and Abseil are told for the whole process.
#pragma once

namespace opserve::server {

// Sends their logs to ours and starts gRPC, for good. The first call does it, the others nothing.
void SetUpGrpc();

}  // namespace opserve::server
