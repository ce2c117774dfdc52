// The error model's way off the wire; the other direction is in server/wire.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace opserve::client {

// The status that a call ended with: gRPC's code and message, and the ErrorDetail that `details`
// holds
// (`grpc-status-details-bin`: StatusDetails with one ErrorInfo), for opserve::GetErrorDetail.
// Details that cannot be read, or whose reason this library does not know, are left out.
absl::Status StatusFromWire(int code, std::string_view message, const std::string& details);

}  // namespace opserve::client
