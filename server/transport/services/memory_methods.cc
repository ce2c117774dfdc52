#include "server/transport/services/memory_methods.h"

#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/calls/region_messages.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/unary/local_user.h"

namespace opserve::server {

using grpc::ByteBuffer;

absl::Status AnswerRegionStatus(const ExecuteContext& with, const Caller& caller,
                                const ByteBuffer& request_bytes, ByteBuffer& response_bytes) {
  inference::SystemSharedMemoryStatusRequest request;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
  inference::SystemSharedMemoryStatusResponse response;
  const absl::StatusOr<LocalUser> who = LocalUserOf(with.connections, caller);
  if (with.named_regions != nullptr && who.ok()) {
    OPSERVE_ASSIGN_OR_RETURN(response, EncodeRegions(*with.named_regions, *who, request.name()));
  }
  response_bytes = WriteMessage(response);
  return absl::OkStatus();
}

absl::Status AnswerRegister(const ExecuteContext& with, const Caller& caller,
                            const ByteBuffer& request_bytes, ByteBuffer& response_bytes) {
  inference::SystemSharedMemoryRegisterRequest request;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
  OPSERVE_RETURN_IF_ERROR(
      RegisterRegion(with.named_regions, LocalUserOf(with.connections, caller), request));
  response_bytes = WriteMessage(inference::SystemSharedMemoryRegisterResponse());
  return absl::OkStatus();
}

absl::Status AnswerUnregister(const ExecuteContext& with, const Caller& caller,
                              const ByteBuffer& request_bytes, ByteBuffer& response_bytes) {
  inference::SystemSharedMemoryUnregisterRequest request;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
  const absl::StatusOr<LocalUser> who = LocalUserOf(with.connections, caller);
  if (with.named_regions != nullptr && who.ok())
    with.named_regions->Unregister(*who, request.name());
  response_bytes = WriteMessage(inference::SystemSharedMemoryUnregisterResponse());
  return absl::OkStatus();
}

absl::Status AnswerCudaStatus(const ExecuteContext& /*with*/, const Caller& /*caller*/,
                              const ByteBuffer& request_bytes, ByteBuffer& response_bytes) {
  inference::CudaSharedMemoryStatusRequest request;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(request_bytes, request));
  response_bytes = WriteMessage(inference::CudaSharedMemoryStatusResponse());
  return absl::OkStatus();
}

absl::Status RefuseCuda(const ExecuteContext& /*with*/, const Caller& /*caller*/,
                        const ByteBuffer& /*request*/, ByteBuffer& /*response*/) {
  return NoCudaMemory();
}

}  // namespace opserve::server
