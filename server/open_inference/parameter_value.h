// Attributes of operators as parameters of the Open Inference Protocol.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/op/operator.h"
#include "inference/open_inference.pb.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

// The attribute `param` with the parameter's value. A string is read as the attribute's kind has
// it: "0.5", "true", "[3,2]", the name of a choice. Errors (161002) name the attribute; whether a
// value of another kind fits is for binding to say.
absl::StatusOr<v1::Attribute> DecodeParameter(const inference::InferParameter& value,
                                              const AttributeParam& param);

// The whole number that a reserved parameter has, also as a string. 161002 naming it.
absl::StatusOr<int64_t> IntegerOf(std::string_view name, const inference::InferParameter& value);

// What an attribute may be, in words: "an int, 0 (none), 1 (mean) or 2 (sum), default 1".
std::string DescribeAttribute(const AttributeParam& param);

}  // namespace opserve::server
