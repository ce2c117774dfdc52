// The one place where core's errors become gRPC's.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace opserve::server {

// OK for OK. Otherwise a status whose details hold one google.rpc.ErrorInfo (see errors.proto and
// docs/errors.md). A status that was not made by core/base/op_error.h gets the reason that goes
// with its code. Texts are cut so that the whole fits the 8 KiB that clients accept as metadata.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace opserve::server
