// Elements of tensors as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::server {

// The bytes that a tensor of that shape has. 161002 naming it, also for more than `max_bytes`.
absl::StatusOr<int64_t> TensorBytes(DType dtype, std::span<const int64_t> shape,
                                    std::string_view name, int64_t max_bytes);

// Elements in row-major order, in one list or in nested ones as the shape has it. `text` is one
// JSON value, from byte `start` of what the client sent; TensorBytes accepted the shape. Errors:
// 161002 naming the tensor.
absl::StatusOr<std::vector<std::byte>> ReadTensorData(std::string_view text, size_t start,
                                                      DType dtype, std::span<const int64_t> shape,
                                                      std::string_view name);

// A list of them, which takes at most MaxTensorDataBytes. What is no finite number is a string, as
// protobuf writes it: "NaN", "Infinity".
void AppendTensorData(DType dtype, std::span<const std::byte> elements, std::string& out);
size_t MaxTensorDataBytes(DType dtype, int64_t elements);

}  // namespace opserve::server
