// Between gRPC's values and ours. Only for the sources that know gRPC.
#pragma once

#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/request.h"
#include "client/cpp/status_details.h"
#include "core/base/fragments.h"
#include "core/base/op_error.h"

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

// With the server's detail; where it has none, the message begins with `target`.
inline absl::Status StatusOf(const grpc::Status& from, const std::string& target) {
  absl::Status status = StatusFromWire(static_cast<int>(from.error_code()), from.error_message(),
                                       from.error_details());
  if (status.ok() || GetErrorDetail(status).has_value()) return status;
  return {status.code(), absl::StrCat(target, ": ", status.message())};
}

}  // namespace opserve::client
