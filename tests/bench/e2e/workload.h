// The calls that loads make: an operator's call, its bytes, and what must come back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::bench {

struct Workload {
  v1::Call call;                    // inputs have raw_index 0, 1, …
  std::vector<std::string> inputs;  // their bytes
  std::string output;               // the bytes of the one output

  // Of what the call brings and takes, without framing.
  int64_t input_bytes() const;
  int64_t output_bytes() const { return static_cast<int64_t>(output.size()); }
};

// SmoothL1LossBackward of `elements` > 0 floats: three inputs, one output, all of that size.
Workload GradientWorkload(int64_t elements);

// L1Loss, mean, of (elements / 512, 1) against (1, 512): few bytes, `elements` of work. `elements`
// must be a power of two, at least 512.
Workload ComputeWorkload(int64_t elements);

// L1LossBackward, elementwise, described for `elements` floats; the data is of `chunk_elements` and
// repeats.
Workload PassThroughWorkload(int64_t elements, int64_t chunk_elements);

// "gradient" or "compute"; the error names --workload or --elements.
absl::StatusOr<Workload> MakeWorkload(std::string_view name, int64_t elements);

// INTERNAL, saying where, unless `got` is `want` (floats).
absl::Status CheckFloats(std::string_view want, std::string_view got);

}  // namespace opserve::bench
