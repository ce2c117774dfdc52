// Between gRPC's values and ours. Only for the sources that know gRPC.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cpp/transport/credentials.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/values/request.h"
#include "client/cpp/wire/status_details.h"
#include "core/base/fragments.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::client {

// A slice over a view that keeps `piece.owner` for as long as the transport may read it. (gRPC
// never writes to a slice it sends.)
inline grpc::Slice OwnedSlice(const Request::Piece& piece) {
  if (piece.view.empty()) return grpc::Slice(piece.own);
  return {const_cast<std::byte*>(piece.view.data()), piece.view.size(),
          [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); },
          new std::shared_ptr<const void>(piece.owner)};
}

// Valid as long as `slices`.
inline Fragments FragmentsOf(const std::vector<grpc::Slice>& slices) {
  Fragments fragments;
  for (const grpc::Slice& slice : slices)
    fragments.Append({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
  return fragments;
}

// For gRPC: so long from now by the monotonic clock; setting the wall clock does not change it.
inline gpr_timespec TimeFromNow(absl::Duration wait) {
  if (wait == absl::InfiniteDuration()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(absl::ToInt64Nanoseconds(wait), GPR_TIMESPAN));
}

// A time-out that is told, to the millisecond.
inline std::string TimeText(absl::Duration timeout) {
  const absl::Duration rounded =
      absl::Trunc(timeout + absl::Microseconds(500), absl::Milliseconds(1));
  return absl::FormatDuration(std::max(rounded, absl::ZeroDuration()));
}

inline absl::Status TooLargeAnswer(const std::string& target, int64_t max_answer_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(target, ": the server's answer: want at most ",
                                                   max_answer_bytes,
                                                   " bytes (max_answer_bytes), got more"));
}

// `status` with `target` in front; in our words where it is gRPC on this side that takes no answer,
// which nothing but gRPC's texts tells: it has no codes of its own for these.
inline absl::Status Worded(const absl::Status& status, const std::string& target,
                           int64_t max_answer_bytes, Encryption encryption) {
  const absl::string_view text = status.message();
  if (absl::IsResourceExhausted(status) && text == "Buffers full")
    return TooLargeAnswer(target, max_answer_bytes);
  if (absl::IsUnimplemented(status) && absl::StartsWith(text, "Compression algorithm")) {
    return absl::InternalError(
        absl::StrCat(target, ": the server's answer: want no compression, got some"));
  }
  const bool may_be_tls = encryption == Encryption::kTls && absl::IsUnavailable(status);
  const std::string_view why = may_be_tls ? WhyTlsFailed(ToStd(text)) : std::string_view();
  return {status.code(), absl::StrCat(target, ToAbsl(why), ": ", text)};
}

// With the server's detail; where it has none, the message begins with `target`.
inline absl::Status StatusOf(const grpc::Status& from, const std::string& target,
                             int64_t max_answer_bytes, Encryption encryption) {
  absl::Status status = StatusFromWire(static_cast<int>(from.error_code()), from.error_message(),
                                       from.error_details());
  if (status.ok() || GetErrorDetail(status).has_value()) return status;
  return Worded(status, target, max_answer_bytes, encryption);
}

}  // namespace opserve::client
