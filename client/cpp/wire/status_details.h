// The error model's way off the wire; the other direction is in server/codec.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace google::rpc {
class Status;
}  // namespace google::rpc

namespace opserve::client {

// The status that a call ended with: gRPC's code and message, and the ErrorDetail that `details`
// holds (`grpc-status-details-bin`: a google.rpc.Status), for opserve::GetErrorDetail.
// Details that cannot be read, or whose reason this library does not know, are left out; a code
// that is none of gRPC's is UNKNOWN.
//
// All of it may be printed: texts are PrintableText of at most kMaxErrorTextBytes. A retry_after of
// more than kMaxRetryAfter is that.
inline constexpr size_t kMaxErrorTextBytes = 1024;
inline constexpr absl::Duration kMaxRetryAfter = absl::Hours(1);
absl::Status StatusFromWire(int code, std::string_view message, const std::string& details);

// The same of an error that came inside an answer; OK when its code is.
absl::Status StatusFromWire(const google::rpc::Status& error);

}  // namespace opserve::client
