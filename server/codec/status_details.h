// core's errors as the message that says why a call or a command failed.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "core/base/op_error.h"
#include "google/rpc/status.pb.h"

namespace opserve::server {

// The most that a Status made here takes when it is serialized.
inline constexpr size_t kMaxStatusDetailsBytes = 3072;

// Why a status that is not OK came about. One that was not made by core/base/op_error.h has the
// reason that goes with its code.
ErrorReason ReasonOf(const absl::Status& status);

// For a status that is not OK: its details hold one google.rpc.ErrorInfo (docs/errors.md) with its
// reason (ReasonOf), and a RetryInfo where another try may succeed. Texts are cut so that the whole
// fits the 8 KiB that clients accept as metadata.
google::rpc::Status EncodeStatusDetails(const absl::Status& status);

}  // namespace opserve::server
