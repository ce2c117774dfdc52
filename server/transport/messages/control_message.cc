#include "server/transport/messages/control_message.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/transport/messages/inflate.h"
#include "server/transport/messages/raw_message.h"

namespace opserve::server {

absl::Status ReadControlMessage(const grpc::ByteBuffer& bytes, int64_t max_inflated_bytes,
                                google::protobuf::MessageLite& message) {
  if (!bytes.Valid()) return MissingParameter("message", "one message, whole");
  const PlainRequest plain(bytes, std::min(max_inflated_bytes, int64_t{kMaxControlBytes}));
  OPSERVE_RETURN_IF_ERROR(plain.status());
  if (plain.bytes().Length() > kMaxControlBytes) {
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .parameter = "message",
                      .want = absl::StrCat("at most ", kMaxControlBytes, " bytes"),
                      .got = absl::StrCat(plain.bytes().Length())});
  }
  return ReadMessage(plain.bytes(), message);
}

}  // namespace opserve::server
