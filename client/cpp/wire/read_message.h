// What the sources that read messages share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/base/fragments.h"
#include "core/tensor/dtype.h"
#include "opserve/v1/types.pb.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace opserve::client {

// Bounds on what any answer may make this client hold beside its bulk bytes: its bytes, and what
// they take when they are parsed. There is room for the schemas of 800 operators.
inline constexpr size_t kMaxHeaderBytes = size_t{2} << 20;
inline constexpr size_t kMaxParsedBytes = size_t{16} << 20;

// INTERNAL. `message` is what the answer should be; `what` may hold text of the server's.
absl::Status BadAnswer(std::string_view message, std::string_view what);
// With `part` of the answer, what it should have been and what it was.
absl::Status BadAnswer(std::string_view message, std::string_view part, std::string_view want,
                       std::string_view got);
// For bytes that are no message at all.
absl::Status MalformedAnswer(std::string_view message);

// Parses a message without bulk. INTERNAL for bytes that are none, and for more of them than the
// bounds above.
absl::Status ReadMessage(const Fragments& answer, google::protobuf::Message& message);
absl::Status ReadMessage(std::string_view answer, google::protobuf::Message& message);

// That no number of a message of counts, sizes and times is negative, in whatever depth.
absl::Status CheckCounts(const google::protobuf::Message& message);

// The enums have the same numbers, checked in call_messages.cc.
inline v1::DataType ToWire(DType dtype) { return static_cast<v1::DataType>(dtype); }

inline DType FromWire(v1::DataType dtype) {
  const int number = dtype;
  return number > 0 && number < kNumDTypes ? static_cast<DType>(number) : DType::kUndefined;
}

}  // namespace opserve::client
