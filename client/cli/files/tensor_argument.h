// What `-i name=VALUE` means: a literal, a .npy file, or "-" for one on standard input.
#pragma once

#include <cstdint>
#include <string_view>

#include <opserve/tensor.h>

#include "absl/status/statusor.h"

namespace opserve::cli {

// kRun wants data; so does kRunInPieces, which looks at it piece by piece, so that files are mapped
// and not read; for kPlan a literal may be a shape alone, and data is not looked at.
enum class TensorUse : uint8_t { kPlan, kRun, kRunInPieces };

// The view owns its memory. Errors name `name` (161002, or what the system says about the file).
absl::StatusOr<client::TensorView> ReadTensorArgument(std::string_view name, std::string_view value,
                                                      TensorUse use);

}  // namespace opserve::cli
