// The one place where core's errors become gRPC's.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace opserve::server {

// OK for OK; otherwise a status with EncodeStatusDetails as its details.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace opserve::server
