#include "core/base/op_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/strings.h"

namespace opserve {
namespace {

constexpr char kPayloadUrl[] = "opserve/error-detail";

constexpr std::array<ErrorReasonInfo, kNumErrorReasons> kReasons = {{
    {ErrorReason::kMissingParameter, "MISSING_PARAMETER", 161001,
     absl::StatusCode::kInvalidArgument,
     "a required tensor, attribute, workspace or executor is missing"},
    {ErrorReason::kUnknownParameter, "UNKNOWN_PARAMETER", 161002,
     absl::StatusCode::kInvalidArgument,
     "the operator has no input, attribute or output of that name"},
    {ErrorReason::kDTypeUnsupported, "DTYPE_UNSUPPORTED", 161002,
     absl::StatusCode::kInvalidArgument,
     "a dtype that the operator, or the device's profile, does not take there"},
    {ErrorReason::kShapeMismatch, "SHAPE_MISMATCH", 161002, absl::StatusCode::kInvalidArgument,
     "a rank or shape that the operator does not take, or that does not go with the others or with "
     "its "
     "bytes"},
    {ErrorReason::kOutOfRange, "OUT_OF_RANGE", 161002, absl::StatusCode::kInvalidArgument,
     "a number outside its range"},
    {ErrorReason::kMalformedMessage, "MALFORMED_MESSAGE", 161002,
     absl::StatusCode::kInvalidArgument, "bytes that are not the message that they should be"},
    {ErrorReason::kObjectNotFound, "OBJECT_NOT_FOUND", 161002, absl::StatusCode::kInvalidArgument,
     "no object of the session, or region of shared memory, has that id or name"},
    {ErrorReason::kIdInUse, "ID_IN_USE", 161002, absl::StatusCode::kInvalidArgument,
     "an object of the session has that id already, or a region of the client's that name"},
    {ErrorReason::kInvalidParameter, "INVALID_PARAMETER", 161002,
     absl::StatusCode::kInvalidArgument, "anything else that is wrong with an argument"},
    {ErrorReason::kDeviceError, "DEVICE_ERROR", 361001, absl::StatusCode::kInternal,
     "a device call failed"},
    {ErrorReason::kInternal, "INTERNAL", 561103, absl::StatusCode::kInternal,
     "a defect of opserve"},
    {ErrorReason::kOperatorNotFound, "OPERATOR_NOT_FOUND", 0, absl::StatusCode::kNotFound,
     "no operator of that name"},
    {ErrorReason::kOperatorUnsupported, "OPERATOR_UNSUPPORTED", 0, absl::StatusCode::kUnimplemented,
     "the device, or its product profile, lacks the operator; or the server lacks a method of the "
     "Open Inference Protocol"},
    {ErrorReason::kDeviceNotFound, "DEVICE_NOT_FOUND", 0, absl::StatusCode::kNotFound,
     "no device of that name"},
    {ErrorReason::kResourceLimit, "RESOURCE_LIMIT", 0, absl::StatusCode::kResourceExhausted,
     "a bound on memory, on calls in flight or on a call's time was met"},
    {ErrorReason::kDeadlineExceeded, "DEADLINE_EXCEEDED", 0, absl::StatusCode::kDeadlineExceeded,
     "the deadline passed before the call ran, or while it ran"},
    {ErrorReason::kCancelled, "CANCELLED", 0, absl::StatusCode::kCancelled,
     "the call was cancelled, or its caller went away: gRPC's clients cancel a call whose "
     "deadline passes"},
    {ErrorReason::kDraining, "DRAINING", 0, absl::StatusCode::kUnavailable,
     "the server is stopping; another replica may serve"},
    {ErrorReason::kStreamFailed, "STREAM_FAILED", 0, absl::StatusCode::kFailedPrecondition,
     "an earlier command of the stream failed, and this one was not run"},
    {ErrorReason::kNoSharedMemory, "SHARED_MEMORY_DISABLED", 0,
     absl::StatusCode::kFailedPrecondition, "the server was not told to allow shared memory"},
    {ErrorReason::kDeviceLost, "DEVICE_LOST", 361001, absl::StatusCode::kUnavailable,
     "the device failed and is not used any more; another replica may serve"},
    {ErrorReason::kUnauthenticated, "UNAUTHENTICATED", 0, absl::StatusCode::kUnauthenticated,
     "the call has no bearer token, or none that the server knows"},
    {ErrorReason::kPermissionDenied, "PERMISSION_DENIED", 0, absl::StatusCode::kPermissionDenied,
     "the token's roles do not cover the method; or shared memory is not the client's"},
}};

// Payload: reason, then each text as "<length>:<bytes>", so that any byte may occur in a text.
void AppendText(std::string& out, std::string_view text) {
  absl::StrAppend(&out, text.size(), ":");
  out.append(text);
}

std::optional<std::string> TakeText(std::string_view& in) {
  size_t length = 0;
  const auto [end, error] = std::from_chars(in.data(), in.data() + in.size(), length);
  if (error != std::errc() || end == in.data() + in.size() || *end != ':') return std::nullopt;
  in.remove_prefix(static_cast<size_t>(end - in.data()) + 1);
  if (length > in.size()) return std::nullopt;
  std::string text(in.substr(0, length));
  in.remove_prefix(length);
  return text;
}

std::string Message(const ErrorDetail& detail) {
  std::string message;
  const auto add = [&message](std::string_view separator, std::string_view text) {
    if (text.empty()) return;
    if (!message.empty()) message.append(separator);
    message.append(text);
  };
  add("", detail.op);
  add(": ", detail.parameter);
  // A suggestion comes last.
  const std::string_view want = detail.want;
  const size_t suggestion = std::min(want.rfind(kSuggestion), want.size());
  std::string rest;
  if (!want.empty()) rest = absl::StrCat("want ", std::string(want.substr(0, suggestion)));
  if (!detail.got.empty()) absl::StrAppend(&rest, rest.empty() ? "" : ", ", "got ", detail.got);
  rest.append(want.substr(suggestion));
  if (rest.empty()) rest.assign(GetErrorReasonInfo(detail.reason).when);
  add(": ", rest);
  return message;
}

absl::Status AboutParameter(ErrorReason reason, std::string_view parameter, std::string_view want,
                            std::string_view got) {
  return MakeError({.reason = reason,
                    .op = {},
                    .parameter = std::string(parameter),
                    .want = std::string(want),
                    .got = std::string(got)});
}

}  // namespace

std::span<const ErrorReasonInfo> ErrorReasons() { return kReasons; }

const ErrorReasonInfo& GetErrorReasonInfo(ErrorReason reason) {
  return kReasons[static_cast<size_t>(reason)];
}

absl::Status MakeError(const ErrorDetail& detail) {
  absl::Status status(GetErrorReasonInfo(detail.reason).status_code, Message(detail));
  std::string payload;
  AppendText(payload, absl::StrCat(static_cast<int>(detail.reason)));
  for (const std::string* text : {&detail.op, &detail.parameter, &detail.want, &detail.got})
    AppendText(payload, *text);
  const std::optional<absl::Duration> wait = detail.retry_after;
  AppendText(payload, wait.has_value() ? absl::StrCat(absl::ToInt64Microseconds(*wait)) : "");
  status.SetPayload(kPayloadUrl, absl::Cord(payload));
  return status;
}

absl::Status MissingParameter(std::string_view parameter, std::string_view want) {
  return AboutParameter(ErrorReason::kMissingParameter, parameter, want, "nothing");
}

absl::Status UnknownParameter(std::string_view parameter, std::string_view want,
                              std::string_view got) {
  return AboutParameter(ErrorReason::kUnknownParameter, parameter, want, got);
}

absl::Status UnsupportedDType(std::string_view parameter, std::string_view want,
                              std::string_view got) {
  return AboutParameter(ErrorReason::kDTypeUnsupported, parameter, want, got);
}

absl::Status ShapeMismatch(std::string_view parameter, std::string_view want,
                           std::string_view got) {
  return AboutParameter(ErrorReason::kShapeMismatch, parameter, want, got);
}

absl::Status OutOfRange(std::string_view parameter, std::string_view want, std::string_view got) {
  return AboutParameter(ErrorReason::kOutOfRange, parameter, want, got);
}

absl::Status MalformedMessage(std::string_view want, std::string_view got) {
  return AboutParameter(ErrorReason::kMalformedMessage, "message", want, got);
}

absl::Status InvalidParameter(std::string_view parameter, std::string_view want,
                              std::string_view got) {
  return AboutParameter(ErrorReason::kInvalidParameter, parameter, want, got);
}

absl::Status WithOperator(absl::Status status, std::string_view op) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value() || !detail->op.empty()) return status;
  detail->op = std::string(op);
  return MakeError(*detail);
}

absl::Status Unshared(const absl::Status& status) {
  absl::Status copy(status.code(), status.message());
  status.ForEachPayload([&copy](absl::string_view url, const absl::Cord& payload) {
    copy.SetPayload(url, absl::Cord(static_cast<std::string>(payload)));
  });
  return copy;
}

std::optional<ErrorDetail> GetErrorDetail(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  std::string_view in = bytes;
  std::array<std::string, 6> texts;
  for (std::string& text : texts) {
    std::optional<std::string> taken = TakeText(in);
    if (!taken.has_value()) return std::nullopt;
    text = *std::move(taken);
  }
  int reason = -1;
  std::from_chars(texts[0].data(), texts[0].data() + texts[0].size(), reason);
  if (reason < 0 || static_cast<size_t>(reason) >= kReasons.size()) return std::nullopt;
  ErrorDetail detail{.reason = static_cast<ErrorReason>(reason),
                     .op = std::move(texts[1]),
                     .parameter = std::move(texts[2]),
                     .want = std::move(texts[3]),
                     .got = std::move(texts[4])};
  int64_t wait_us = 0;
  if (absl::SimpleAtoi(texts[5], &wait_us)) detail.retry_after = absl::Microseconds(wait_us);
  return detail;
}

}  // namespace opserve
