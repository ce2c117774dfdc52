// An operator's outputs and gradients over a range of one of its inputs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/http/playground/setting.h"

namespace opserve::server {

struct Curve {
  std::string name;           // "out", "gradient of self"
  std::vector<float> values;  // kPoints of them; any may be infinite or NaN
};

// One call, with its bytes.
struct PlayedCall {
  struct Input {
    std::string_view name;
    std::vector<float> values;
  };
  const Operator* op = nullptr;
  std::vector<Input> inputs;
  std::vector<NamedAttribute> attributes;
};

struct Curves {
  std::vector<float> x;
  std::vector<Curve> outputs;
  std::vector<Curve> gradients;  // of the sum of the first output
  PlayedCall forward;
  PlayedCall backward;
};

// Runs both on this thread, on a device that computes in the host's memory. Errors: Engine's;
// 161002 for a setting that does not work element by element; NOT_FOUND where no device does that.
absl::StatusOr<Curves> ComputeCurves(Engine& engine, const Setting& setting);

}  // namespace opserve::server
