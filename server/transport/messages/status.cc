#include "server/transport/messages/status.h"

#include "server/codec/status_details.h"

namespace opserve::server {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status details = EncodeStatusDetails(status);
  return {static_cast<grpc::StatusCode>(status.code()), details.message(),
          details.SerializeAsString()};
}

}  // namespace opserve::server
