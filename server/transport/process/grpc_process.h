// What gRPC, protobuf and Abseil are told for the whole process.
#pragma once

namespace opserve::server {

// Sends their logs to ours and starts gRPC, for good. The first call does it, the others nothing.
void SetUpGrpc();

// gRPC writes no log from the first line that was one too many in its second until this is called:
// now and then. Lines that nobody sees cost it microseconds each, and a client can make millions.
void LetGrpcLog();

}  // namespace opserve::server
