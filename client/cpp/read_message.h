// What the sources that read messages share.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/fragments.h"
#include "core/base/strings.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor_desc.h"
#include "opserve/v1/types.pb.h"

namespace opserve::client {

inline absl::Status BadAnswer(std::string_view message, std::string_view what) {
  return absl::InternalError(
      absl::StrCat("the server's answer is no valid ", ToAbsl(message), ": ", ToAbsl(what)));
}

// Parses a small message.
template <typename Message>
absl::Status ReadMessage(const Fragments& answer, Message& message) {
  std::string bytes(answer.size_bytes(), '\0');
  answer.CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  if (message.ParseFromString(bytes)) return absl::OkStatus();
  return BadAnswer(Message::descriptor()->name(), "malformed bytes");
}

// The enums have the same numbers, checked in call_messages.cc.
inline v1::DType ToWire(DType dtype) { return static_cast<v1::DType>(dtype); }

inline DType FromWire(v1::DType dtype) {
  const int number = dtype;
  return number > 0 && number < kNumDTypes ? static_cast<DType>(number) : DType::kUndefined;
}

// What an output's dtype and shape say, dense. `message` is what it came in.
inline absl::StatusOr<TensorDesc> ReadDesc(const v1::Tensor& output, std::string_view message) {
  const Dims shape(output.shape().begin(), output.shape().end());
  TensorDesc desc = TensorDesc::Dense(FromWire(output.dtype()), shape);
  const absl::Status status = CheckDesc(desc, output.name());
  if (!status.ok()) return BadAnswer(message, ToStd(status.message()));
  return desc;
}

}  // namespace opserve::client
