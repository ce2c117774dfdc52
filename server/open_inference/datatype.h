// Element types as the Open Inference Protocol calls them.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "inference/open_inference.pb.h"

namespace opserve::server {

// "FP32", "INT64", "BOOL"; empty for kUndefined.
std::string_view DatatypeName(DType dtype);

// 161002 naming `parameter` for a name that no dtype has, BYTES among them.
absl::StatusOr<DType> ParseDatatype(std::string_view name, std::string_view parameter);

// As a model's configuration has it.
inference::DataType ConfigDataType(DType dtype);

}  // namespace opserve::server
