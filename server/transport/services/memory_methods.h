// SystemSharedMemory's and CudaSharedMemory's methods of the Open Inference Protocol.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "server/transport/unary/engine_call.h"

namespace opserve::server {

// One method: reads the request and writes the response, to who was let in.
using MemoryMethod = absl::Status(const ExecuteContext& with, const Caller& caller,
                                  const grpc::ByteBuffer& request, grpc::ByteBuffer& response);

// The client's regions; none where there is no shared memory, or the client's user is unknown.
MemoryMethod AnswerRegionStatus;
// Errors: RegisterRegion's.
MemoryMethod AnswerRegister;
// Clients let regions go before they begin, whether they have any or not.
MemoryMethod AnswerUnregister;
// Of CUDA's memory: no regions, and UNIMPLEMENTED.
MemoryMethod AnswerCudaStatus;
MemoryMethod RefuseCuda;

}  // namespace opserve::server
