// The body of an infer request as JSON, with tensors in it or behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"

namespace opserve::server {

// An infer request in terms of ModelInferRequest.
struct RestRequest {
  std::string header;  // the message, but for the id and the raw entries; the same bytes for
                       // requests that differ in nothing else
  std::string id;      // comes back with the answer
  std::vector<Fragments> raw;  // the raw entries: in the body, or in `values`
  std::vector<std::vector<std::byte>> values;
  // Whether outputs come as binary data behind the answer's JSON: those that the request names, in
  // their order, and all of a request that names none.
  std::vector<bool> binary_outputs;
  bool binary_by_default = false;
  // Whether they are in shared memory, and not in the answer; as long as `binary_outputs`, or
  // empty.
  std::vector<bool> shared_outputs;

  bool IsShared(size_t i) const { return i < shared_outputs.size() && shared_outputs[i]; }
  bool IsBinary(size_t i) const {
    return i < binary_outputs.size() ? binary_outputs[i] : binary_by_default;
  }
};

struct RestLimits {
  int64_t max_tensor_bytes = 0;  // of all tensors that come as JSON
};

// What a request is parsed into besides its body is told of, in bytes, before it is there; an error
// ends the parsing.
using ChargeBytes = absl::FunctionRef<absl::Status(int64_t bytes)>;

// Reads `body`, which must stay. `json_bytes` is what Inference-Header-Content-Length says: where
// the JSON ends, and the binary data of tensors begins, in their order. Names, datatypes, shapes
// and parameters are for DecodeInferRequest to check. Errors: 161001 and 161002, naming what they
// are about; `charge`'s.
absl::StatusOr<RestRequest> ReadRestRequest(std::string_view model, std::string_view version,
                                            std::string_view body, std::optional<size_t> json_bytes,
                                            const RestLimits& limits, ChargeBytes charge);

}  // namespace opserve::server
