// core's errors as the message that says why a call or a command failed.
#pragma once

#include "absl/status/status.h"
#include "opserve/v1/errors.pb.h"

namespace opserve::server {

// For a status that is not OK: its details hold one google.rpc.ErrorInfo (see errors.proto and
// docs/errors.md). A status that was not made by core/base/op_error.h gets the reason that goes
// with its code. Texts are cut so that the whole fits the 8 KiB that clients accept as metadata.
v1::StatusDetails EncodeStatusDetails(const absl::Status& status);

}  // namespace opserve::server
