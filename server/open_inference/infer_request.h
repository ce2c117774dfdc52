// A ModelInferRequest as a call of opserve.v1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "inference/open_inference.pb.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

// More inputs or outputs than this no operator has.
inline constexpr size_t kMaxInferTensors = 64;
// Of a request and its tensors together. A parameter takes seven bytes, an object of it twenty
// times as many.
inline constexpr size_t kMaxInferParameters = 256;

// What a request has besides its raw entries, in two parts.
struct InferHeader {
  std::string call;  // all but the id: the same for calls that differ in nothing but their bytes
  std::string id;
};

// Parts the fields that ScanMessage left of a message. Errors: 161002 for more tensors than
// kMaxInferTensors (each is an object of hundreds of bytes once it is parsed), or an id that is not
// UTF-8.
absl::StatusOr<InferHeader> SplitInferHeader(std::string_view header);

// A request in terms of opserve.v1.
struct DecodedInfer {
  v1::Call call;  // its raw indices are those of raw_input_contents; its outputs are what was
                  // asked for
  absl::Duration timeout = absl::InfiniteDuration();  // the client's, from when the call came
};

// Parameters that are neither attributes of the operator nor reserved are left for binding to
// refuse. Errors name the operator and the parameter: NOT_FOUND for the model or its version; else
// 161001 or 161002.
absl::StatusOr<DecodedInfer> DecodeInferRequest(const inference::ModelInferRequest& request,
                                                size_t raw_entries);

}  // namespace opserve::server
