#include "client/acl/objects/status_codes.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "aclnn/aclnn_base.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::acl {
namespace {

constexpr char kCodeUrl[] = "opserve/acl-code";

std::optional<int> CodeOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kCodeUrl);
  int code = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(static_cast<std::string>(*payload), &code))
    return std::nullopt;
  return code;
}

aclError CodeOfReason(ErrorReason reason) {
  switch (reason) {
    case ErrorReason::kMissingParameter:
      return ACL_ERROR_INVALID_PARAM;
    case ErrorReason::kUnknownParameter:
    case ErrorReason::kDTypeUnsupported:
    case ErrorReason::kShapeMismatch:
    case ErrorReason::kOutOfRange:
    case ErrorReason::kMalformedMessage:
    case ErrorReason::kObjectNotFound:
    case ErrorReason::kIdInUse:
    case ErrorReason::kInvalidParameter:
      return ACL_ERROR_RT_PARAM_INVALID;
    case ErrorReason::kInternal:
      return ACL_ERROR_INTERNAL_ERROR;
    case ErrorReason::kOperatorNotFound:
    case ErrorReason::kOperatorUnsupported:
    case ErrorReason::kNoSharedMemory:
    case ErrorReason::kUnauthenticated:
    case ErrorReason::kPermissionDenied:
      return ACL_ERROR_API_NOT_SUPPORT;
    case ErrorReason::kDeviceNotFound:
      return ACL_ERROR_RT_INVALID_DEVICEID;
    case ErrorReason::kResourceLimit:
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    case ErrorReason::kDeviceError:
    case ErrorReason::kDeadlineExceeded:
    case ErrorReason::kCancelled:
    case ErrorReason::kDraining:
    case ErrorReason::kStreamFailed:
    case ErrorReason::kDeviceLost:
      return ACL_ERROR_RT_AICORE_EXCEPTION;
  }
  return ACL_ERROR_INTERNAL_ERROR;
}

}  // namespace

absl::Status Failure(aclError code, std::string_view message) {
  absl::Status status(absl::StatusCode::kUnknown, ToAbsl(message));
  status.SetPayload(kCodeUrl, absl::Cord(absl::StrCat(code)));
  return status;
}

aclError RuntimeCode(const absl::Status& status) {
  if (status.ok()) return ACL_SUCCESS;
  if (const std::optional<int> code = CodeOf(status)) return *code;
  if (const std::optional<ErrorDetail> detail = GetErrorDetail(status))
    return CodeOfReason(detail->reason);
  if (absl::IsResourceExhausted(status)) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  return absl::IsInternal(status) ? ACL_ERROR_INTERNAL_ERROR : ACL_ERROR_RT_AICORE_EXCEPTION;
}

int32_t OperatorCode(const absl::Status& status) {
  if (status.ok()) return ACLNN_SUCCESS;
  if (const std::optional<int> code = CodeOf(status)) {
    const bool is_aclnn = *code == ACLNN_ERR_PARAM_NULLPTR || *code == ACLNN_ERR_PARAM_INVALID ||
                          *code / 1000 == ACLNN_ERR_INNER / 1000;
    return is_aclnn ? *code : ACLNN_ERR_RUNTIME_ERROR;
  }
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  const int32_t code = detail.has_value() ? GetErrorReasonInfo(detail->reason).aclnn_code : 0;
  return code != 0 ? code : ACLNN_ERR_RUNTIME_ERROR;
}

}  // namespace opserve::acl
