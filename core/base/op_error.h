// The one error model: an absl::Status whose message reads "operator: parameter: want W, got G" and
// whose payload holds the same in parts, with the reason. The server turns it into gRPC's status
// details, the C interface into an aclnnStatus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace opserve {

// Why a call failed. Each has a row in ErrorReasons().
enum class ErrorReason : uint8_t {
  kMissingParameter,     // a required tensor, attribute, workspace or executor is missing
  kUnknownParameter,     // a name that the operator does not have
  kDTypeUnsupported,     // a dtype that the operator, or its profile, does not take there
  kShapeMismatch,        // a rank or shape that does not go with the others
  kOutOfRange,           // a number outside what it may be
  kMalformedMessage,     // bytes that are not the message that they should be
  kObjectNotFound,       // an id of a session's object or of shared memory that names nothing
  kIdInUse,              // an id for a new object that one has
  kInvalidParameter,     // any other bad argument
  kDeviceError,          // a device call failed
  kInternal,             // a defect of opserve
  kOperatorNotFound,     // no operator of that name
  kOperatorUnsupported,  // the device's profile lacks the operator
  kDeviceNotFound,       // no device of that name
  kResourceLimit,        // a bound on memory, on calls or on the time of one
  kDeadlineExceeded,     // its deadline passed before it ran, or while it ran
  kCancelled,            // it was cancelled, or its caller went away
  kDraining,             // the server is stopping
  kStreamFailed,         // an earlier command of the stream failed; this one was not run
  kNoSharedMemory,       // the server was not told to allow shared memory
  kDeviceLost,           // the device failed for good
  kUnauthenticated,      // the server asks who calls, and the call does not say it
  kPermissionDenied,     // who calls may not make calls of this kind
};
inline constexpr size_t kNumErrorReasons = static_cast<size_t>(ErrorReason::kPermissionDenied) + 1;

struct ErrorReasonInfo {
  ErrorReason reason;
  std::string_view name;  // "SHAPE_MISMATCH"; the wire's ErrorInfo.reason
  int32_t aclnn_code;     // 161002; 0 where aclnn has no code for it
  absl::StatusCode status_code;
  std::string_view when;  // for the documentation
};

// Every reason, in enum order.
std::span<const ErrorReasonInfo> ErrorReasons();
const ErrorReasonInfo& GetErrorReasonInfo(ErrorReason reason);

struct ErrorDetail {
  ErrorReason reason = ErrorReason::kInternal;
  std::string op;         // operator name; empty when unknown
  std::string parameter;  // input, attribute, output, option; empty when unknown
  std::string want;       // in words
  std::string got;        // in words
  // Of a refusal that passes by itself: when to try again.
  std::optional<absl::Duration> retry_after = {};
};

// The status of `detail`: its code, its message, and `detail` as payload.
absl::Status MakeError(const ErrorDetail& detail);

// The usual ones: 161001 of a missing parameter, 161002 of all others. The message lacks the
// operator until WithOperator adds it.
absl::Status MissingParameter(std::string_view parameter, std::string_view want);
absl::Status UnknownParameter(std::string_view parameter, std::string_view want,
                              std::string_view got);
absl::Status UnsupportedDType(std::string_view parameter, std::string_view want,
                              std::string_view got);
absl::Status ShapeMismatch(std::string_view parameter, std::string_view want, std::string_view got);
absl::Status OutOfRange(std::string_view parameter, std::string_view want, std::string_view got);
absl::Status MalformedMessage(std::string_view want, std::string_view got);
absl::Status InvalidParameter(std::string_view parameter, std::string_view want,
                              std::string_view got);

// `status` with `op` filled in where its detail names no operator; OK and foreign statuses come
// back unchanged.
absl::Status WithOperator(absl::Status status, std::string_view op);

// The same status with nothing shared: for one that goes to another thread while this one keeps
// it. (Copies count references inside Abseil's library, where TSan does not see it.)
absl::Status Unshared(const absl::Status& status);

// The parts of an error made here; nullopt for OK and for foreign statuses.
std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status);

}  // namespace opserve
